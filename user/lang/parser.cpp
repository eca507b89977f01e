// SPDX-License-Identifier: GPL-2.0-only
#include "lang/parser.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "lang/expression_error.h"
#include "lang/lexer.h"
#include "lang/type_words.h"
#include "util/near_match.h"

namespace argtrace::lang {

namespace {

using Kind = Token::Kind;

constexpr int nesting_max = 100;

struct BinaryToken {
    Kind token;
    BinaryOperator op;
    int precedence; ///< a larger one binds more tightly
};

constexpr int bit_and_precedence = 5;
constexpr int bit_or_precedence = 3;
constexpr int equality_precedence = 6;
constexpr int relation_precedence = 7;

constexpr BinaryToken binary_tokens[]{
    {Kind::star, BinaryOperator::multiply, 10},
    {Kind::slash, BinaryOperator::divide, 10},
    {Kind::percent, BinaryOperator::modulo, 10},
    {Kind::plus, BinaryOperator::add, 9},
    {Kind::minus, BinaryOperator::subtract, 9},
    {Kind::shift_left, BinaryOperator::shift_left, 8},
    {Kind::shift_right, BinaryOperator::shift_right, 8},
    {Kind::less, BinaryOperator::less, relation_precedence},
    {Kind::greater, BinaryOperator::greater, relation_precedence},
    {Kind::less_equal, BinaryOperator::less_equal, relation_precedence},
    {Kind::greater_equal, BinaryOperator::greater_equal, relation_precedence},
    {Kind::equal, BinaryOperator::equal, equality_precedence},
    {Kind::not_equal, BinaryOperator::not_equal, equality_precedence},
    {Kind::tilde, BinaryOperator::matches, equality_precedence},
    {Kind::exclamation_tilde, BinaryOperator::not_matches, equality_precedence},
    {Kind::ampersand, BinaryOperator::bit_and, bit_and_precedence},
    {Kind::caret, BinaryOperator::bit_xor, 4},
    {Kind::pipe, BinaryOperator::bit_or, bit_or_precedence},
    {Kind::and_and, BinaryOperator::logical_and, 2},
    {Kind::or_or, BinaryOperator::logical_or, 1},
};

const BinaryToken *find_binary(Kind kind) {
    const auto *found = std::find_if(std::begin(binary_tokens), std::end(binary_tokens),
                                     [kind](const BinaryToken &one) { return one.token == kind; });
    return found == std::end(binary_tokens) ? nullptr : found;
}

const BinaryToken *binary_of(const Ast &ast) {
    return ast.kind == Ast::Kind::binary ? find_binary(ast.token.kind) : nullptr;
}

class Parser {
public:
    Parser(std::shared_ptr<const std::string> text, std::size_t at)
        : text_(std::move(text)), lexer_(*text_, at) {
        advance();
    }

    ParsedArguments arguments() {
        ParsedArguments parsed;
        expect(Kind::left_parenthesis, "'('");
        if (token_.kind == Kind::right_parenthesis) {
            parsed.end = token_.at + token_.size;
            return parsed;
        }
        for (;;) {
            parsed.arguments.push_back(argument());
            if (token_.kind == Kind::right_parenthesis)
                break;
            if (token_.kind == Kind::end)
                fail("')' is missing");
            if (token_.kind != Kind::comma)
                fail_at_rest("what is recorded");
            advance();
        }
        parsed.end = token_.at + token_.size;
        return parsed;
    }

    std::vector<ArgumentExpression> values() {
        std::vector<ArgumentExpression> values;
        do
            values.push_back(argument());
        while (accept(Kind::comma));
        if (token_.kind != Kind::end)
            fail_at_rest("a value");
        return values;
    }

    TypeName type() {
        TypeName type = type_name();
        if (token_.kind != Kind::end)
            fail("a type ends here");
        return type;
    }

    Expression condition() {
        if (token_.kind == Kind::end)
            fail("a condition is missing");
        AstPtr root = expression();
        if (token_.kind == Kind::name && token_.text == "as")
            fail("a condition has no name");
        if (token_.kind == Kind::right_parenthesis)
            fail("this ')' has no '('");
        if (token_.kind != Kind::end)
            fail_at_rest("a condition");
        return {text_, std::move(root)};
    }

private:
    using Node = std::unique_ptr<Ast>;

    struct Deeper {
        explicit Deeper(Parser &parser) : parser(parser) {
            if (++parser.depth_ > nesting_max)
                parser.fail("this is nested too deeply");
        }
        ~Deeper() { parser.depth_--; }
        Deeper(const Deeper &) = delete;
        Parser &parser;
    };

    [[noreturn]] void fail(std::string_view sentence) const { fail(token_.at, sentence); }
    [[noreturn]] void fail(std::size_t at, std::string_view sentence) const {
        throw ExpressionError(*text_, at, sentence);
    }

    void advance() {
        last_end_ = token_.at + token_.size;
        token_ = lexer_.next();
    }

    bool accept(Kind kind) {
        if (token_.kind != kind)
            return false;
        advance();
        return true;
    }

    void expect(Kind kind, std::string_view what) {
        if (!accept(kind))
            fail(fmt::format("{} is missing{}", what, before()));
    }

    // " before ','", or nothing at the end.
    std::string before() const {
        return token_.kind == Kind::end ? "" : " before " + lexer_.shown(token_.at);
    }

    [[noreturn]] void fail_at_rest(std::string_view what) const {
        refuse_assignment();
        if (token_.kind == Kind::name && token_.text == "if")
            fail("'if' stands behind the closing parenthesis");
        const bool is_word = token_.kind == Kind::name;
        const std::string_view symbol = !is_word ? "" : token_.text == "and" ? "&&" : token_.text == "or" ? "||" : "";
        fail(fmt::format("{} cannot follow {}: {}", is_word ? fmt::format("'{}'", token_.text) : lexer_.shown(token_.at), what,
                         symbol.empty() ? "an operator is missing, or a comma" : fmt::format("in C it is {}", symbol)));
    }

    // Also the '=' of '+=', for which the '+' is an operator.
    void refuse_assignment() const {
        if (text_->substr(token_.at, 1) != "=")
            return;
        const bool is_of_globs = text_->substr(token_.at + 1, 1) == "~" || (token_.at > 0 && (*text_)[token_.at - 1] == '~');
        fail(is_of_globs ? "'=' changes what is on its left; to compare with a glob, write '~'"
                         : "'=' changes what is on its left; to compare, write '=='");
    }

    static Node make(Ast::Kind kind, const Token &token) {
        Node made = std::make_unique<Ast>();
        made->kind = kind;
        made->token = token;
        made->at = token.at;
        made->end = token.at + token.size;
        return made;
    }

    // The end of what has been read becomes the node's.
    Node ended(Node node) const {
        node->end = last_end_;
        return node;
    }

    ArgumentExpression argument() {
        if (token_.kind == Kind::comma || token_.kind == Kind::right_parenthesis)
            fail(fmt::format("an argument is missing before {}", lexer_.shown(token_.at)));
        if (token_.kind == Kind::end)
            fail("')' is missing");
        Expression parsed(text_, expression());
        ArgumentExpression made{std::move(parsed), {}, false};
        made.name = made.expression.written();
        if (token_.kind == Kind::name && token_.text == "as") {
            advance();
            const bool is_name = token_.kind == Kind::name && token_.text.front() != '$';
            if (!is_name && token_.kind != Kind::string)
                fail(fmt::format("a name is missing behind 'as'{}", before()));
            made.name = token_.text;
            made.named = true;
            advance();
        }
        return made;
    }

    Node expression() {
        const Deeper deeper(*this);
        Node condition = binary(1);
        if (token_.kind != Kind::question)
            return condition;
        Node made = make(Ast::Kind::conditional, token_);
        made->at = condition->at;
        advance();
        made->operands.push_back(std::move(condition));
        made->operands.push_back(expression());
        expect(Kind::colon, "':'");
        made->operands.push_back(expression());
        return ended(std::move(made));
    }

    // An operand of a binary operator: EXPR or EXPR@ret.
    Node operand() {
        Node value = unary();
        if (token_.kind != Kind::at)
            return value;
        Node made = make(Ast::Kind::at_return, token_);
        made->at = value->at;
        advance();
        if (token_.kind != Kind::name || token_.text != "ret")
            fail(fmt::format("'ret' is missing behind '@'{}: EXPR@ret is what EXPR is when the "
                             "function returns",
                             before()));
        advance();
        made->operands.push_back(std::move(value));
        return ended(std::move(made));
    }

    Node binary(int precedence) {
        Node left = operand();
        for (int operators = 0;; operators++) {
            const BinaryToken *op = find_binary(token_.kind);
            if (!op || op->precedence < precedence)
                return left;
            if (operators == nesting_max * 10) // the tree is as deep
                fail("these are too many operators");
            Node made = make(Ast::Kind::binary, token_);
            made->binary = op->op;
            made->at = left->at;
            advance();
            Node right = binary(op->precedence + 1);
            refuse_misleading(*made, *left, *right);
            made->operands.push_back(std::move(left));
            made->operands.push_back(std::move(right));
            left = ended(std::move(made));
        }
    }

    std::string_view written(const Ast &ast) const {
        return std::string_view(*text_).substr(ast.at, ast.end - ast.at);
    }

    // In C, a & B == c is a & (B == c), which hardly anybody means.
    void refuse_misleading(const Ast &made, const Ast &left, const Ast &right) const {
        const BinaryToken *outer = binary_of(made);
        if (outer->precedence > bit_and_precedence || outer->precedence < bit_or_precedence)
            return;
        for (const Ast *side : {&left, &right}) {
            const BinaryToken *inner = binary_of(*side);
            if (!inner || side->parenthesized || inner->precedence < equality_precedence ||
                inner->precedence > relation_precedence)
                continue;
            const std::string_view bits = token_text(made), compared = token_text(*side);
            const Ast &first = side == &right ? left : *side->operands[0];
            const Ast &middle = side == &right ? *side->operands[0] : *side->operands[1];
            const Ast &last = side == &right ? *side->operands[1] : right;
            const std::string meant =
                side == &right ? fmt::format("({} {} {}) {} {}", written(first), bits,
                                             written(middle), compared, written(last))
                               : fmt::format("{} {} ({} {} {})", written(first), compared,
                                             written(middle), bits, written(last));
            fail(made.token.at, fmt::format("'{}' binds less tightly than '{}' in C: write {}, or "
                                            "parentheses around the comparison",
                                            bits, compared, meant));
        }
    }

    std::string_view token_text(const Ast &ast) const {
        return std::string_view(*text_).substr(ast.token.at, ast.token.size);
    }

    Node unary() {
        const Deeper deeper(*this);
        const Token begin = token_;
        switch (begin.kind) {
        case Kind::star:
            return unary(UnaryOperator::dereference);
        case Kind::ampersand:
            return unary(UnaryOperator::address);
        case Kind::exclamation:
            return unary(UnaryOperator::logical_not);
        case Kind::tilde:
            return unary(UnaryOperator::complement);
        case Kind::minus:
            return unary(UnaryOperator::minus);
        case Kind::plus:
            return unary(UnaryOperator::plus);
        case Kind::exclamation_tilde: { // here it is two operators
            Node made = make(Ast::Kind::unary, begin);
            made->unary = UnaryOperator::logical_not;
            token_.at++;
            token_.size--;
            made->operands.push_back(unary(UnaryOperator::complement));
            return ended(std::move(made));
        }
        case Kind::and_and:
            fail("'&&' has nothing on its left");
        case Kind::left_parenthesis:
            return parenthesis();
        case Kind::name:
            if (begin.text == "sizeof")
                return size_of();
            break;
        default:
            break;
        }
        return postfix(primary());
    }

    Node unary(UnaryOperator op) {
        Node made = make(Ast::Kind::unary, token_);
        made->unary = op;
        advance();
        made->operands.push_back(unary());
        return ended(std::move(made));
    }

    // A cast, or an expression in parentheses.
    Node parenthesis() {
        const Token begin = token_;
        advance();
        if (std::optional<TypeName> type = cast_type()) {
            Node made = make(Ast::Kind::cast, begin);
            made->type = std::move(*type);
            made->operands.push_back(unary());
            return ended(std::move(made));
        }
        Node inner = expression();
        close(begin);
        inner->parenthesized = true;
        inner->at = begin.at;
        return postfix(ended(std::move(inner)));
    }

    void close(const Token &begin) {
        if (token_.kind == Kind::end)
            fail(begin.at, "the ')' of this is missing");
        if (!accept(Kind::right_parenthesis))
            fail_at_rest("what stands in the parentheses");
    }

    /// Behind '(': the type of a cast with its ')'; nothing, and nothing is read, if it is none.
    std::optional<TypeName> cast_type() {
        if (token_.kind != Kind::name || token_.text.front() == '$')
            return std::nullopt;
        if (begins_type(token_.text)) {
            TypeName type = type_name();
            refuse_declarator(type);
            expect(Kind::right_parenthesis, "')'");
            return type;
        }
        const Saved saved = save();
        TypeName type = type_name();
        refuse_misspelt_tag(type);
        refuse_declarator_of_name(type);
        if (accept(Kind::right_parenthesis) &&
            (type.stars > 0 || looks_like_type(type.name) || begins_operand(token_.kind)))
            return type;
        restore(saved);
        return std::nullopt;
    }

    /// Arrays and functions, to which C casts nothing, and pointers to them.
    void refuse_declarator(const TypeName &type) {
        const Token begin = token_;
        if (accept(Kind::left_bracket))
            fail_at_array(begin, type);
        if (!accept(Kind::left_parenthesis))
            return;
        fail(begin.at, token_.kind == Kind::star ? pointer_to_declarator
                                                 : "nothing can be cast to a function; any address is a (void *)");
    }

    static constexpr std::string_view pointer_to_declarator =
        "pointers to arrays and functions cannot be written; any address is a (void *)";

    [[noreturn]] void fail_at_array(const Token &bracket, const TypeName &type) const {
        fail(bracket.at, fmt::format("nothing can be cast to an array; to a pointer it can, as in ({}{}*)",
                                     text_->substr(type.at, type.end - type.at), type.stars > 0 ? "" : " "));
    }

    /// The same where a name may be that of an argument as well: what would mean nothing then. Reads on only to refuse it.
    void refuse_declarator_of_name(const TypeName &type) {
        const Saved saved = save();
        const Token begin = token_;
        if (accept(Kind::left_parenthesis) && accept(Kind::star) && token_.kind == Kind::right_parenthesis)
            fail(begin.at, pointer_to_declarator);
        restore(saved);
        if (!accept(Kind::left_bracket))
            return;
        const bool counted = accept(Kind::number);
        if (accept(Kind::right_bracket) &&
            (!counted || type.stars > 0 || (accept(Kind::right_parenthesis) && begins_operand(token_.kind))))
            fail_at_array(begin, type);
        restore(saved);
    }

    /// "(strct file *)": two words in a row are nothing else.
    void refuse_misspelt_tag(const TypeName &type) const {
        if (type.tag != TypeName::Tag::none || type.stars > 0 || token_.kind != Kind::name || token_.text == "as" || token_.text == "if")
            return;
        constexpr std::string_view tags[]{"struct", "union", "enum", "unsigned", "signed"};
        const std::string_view near = near_match(type.name, tags);
        if (!near.empty())
            fail(type.at, fmt::format("'{}' begins no type; did you mean {}?", type.name, near));
    }

    // What behind (name) says that this is a cast: behind an operand it would mean nothing.
    static bool begins_operand(Kind kind) {
        constexpr std::array<Kind, 6> kinds{
            Kind::name,   Kind::number,           Kind::character,
            Kind::string, Kind::left_parenthesis, Kind::exclamation};
        return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    }

    static bool begins_type(std::string_view word) {
        return word == "struct" || word == "union" || word == "enum" || is_type_keyword(word);
    }

    struct Saved {
        Lexer lexer;
        Token token;
        std::size_t last_end;
    };

    Saved save() const { return {lexer_, token_, last_end_}; }
    void restore(const Saved &saved) {
        lexer_ = saved.lexer;
        token_ = saved.token;
        last_end_ = saved.last_end;
    }

    bool accept_qualifier() {
        if (token_.kind != Kind::name || (token_.text != "const" && token_.text != "volatile"))
            return false;
        advance();
        return true;
    }

    TypeName type_name() {
        TypeName type;
        type.at = token_.at;
        while (accept_qualifier())
            ;
        if (token_.kind != Kind::name)
            fail(fmt::format("a type is missing{}", before()));
        using Tag = TypeName::Tag;
        const Tag tag = token_.text == "struct"  ? Tag::structure
                        : token_.text == "union" ? Tag::union_
                        : token_.text == "enum"  ? Tag::enumeration
                                                 : Tag::none;
        if (tag != Tag::none) {
            type.tag = tag;
            const std::string word = token_.text;
            advance();
            if (token_.kind != Kind::name)
                fail(fmt::format("the name of the {} is missing{}", word, before()));
            type.name = token_.text;
            advance();
        } else if (is_type_keyword(token_.text)) {
            std::vector<std::string> words;
            while (token_.kind == Kind::name && is_type_keyword(token_.text)) {
                words.push_back(token_.text);
                advance();
            }
            const std::optional<std::string> basic = basic_type(words);
            if (!basic)
                fail(type.at, fmt::format("'{}' is no type", fmt::join(words, " ")));
            type.name = *basic;
        } else {
            type.name = token_.text;
            advance();
        }
        for (;;) {
            if (accept(Kind::star))
                type.stars++;
            else if (!accept_qualifier())
                break;
        }
        type.end = last_end_;
        if (type.stars > 8)
            fail(type.at, "these are too many '*'");
        return type;
    }

    Node size_of() {
        const Token begin = token_;
        advance();
        if (token_.kind == Kind::left_parenthesis) {
            const Saved saved = save();
            advance();
            if (token_.kind == Kind::name) {
                const bool certain = begins_type(token_.text);
                TypeName type = type_name();
                if (certain && token_.kind != Kind::right_parenthesis)
                    fail(fmt::format("')' is missing{}", before()));
                if (accept(Kind::right_parenthesis) &&
                    (certain || type.stars > 0 || looks_like_type(type.name))) {
                    Node made = make(Ast::Kind::size_of_type, begin);
                    made->type = std::move(type);
                    return ended(std::move(made));
                }
            }
            restore(saved);
        }
        Node made = make(Ast::Kind::size_of, begin);
        // sizeof (x) - 1 is no cast, and sizeof binds more tightly than one.
        if (token_.kind == Kind::left_parenthesis) {
            const Token inner = token_;
            advance();
            made->operands.push_back(expression());
            close(inner);
            Ast *parsed = const_cast<Ast *>(made->operands.back().release());
            parsed->parenthesized = true;
            made->operands.back() = postfix(Node(parsed));
        } else {
            made->operands.push_back(unary());
        }
        return ended(std::move(made));
    }

    Node primary() {
        const Token begin = token_;
        switch (begin.kind) {
        case Kind::number:
        case Kind::character:
            advance();
            return make(Ast::Kind::number, begin);
        case Kind::string: {
            Node made = make(Ast::Kind::string, begin);
            advance();
            while (token_.kind == Kind::string) { // adjacent ones are one
                made->token.text += token_.text;
                advance();
            }
            return ended(std::move(made));
        }
        case Kind::name:
            if (begin.text == "as" && is_argument_called_as())
                return make(Ast::Kind::name, begin);
            if (begin.text == "as" || begin.text == "if")
                fail(fmt::format("something to record is missing before '{}'", begin.text));
            if (begins_type(begin.text))
                fail("a type stands in parentheses, before what is cast to it");
            advance();
            if (token_.kind != Kind::left_parenthesis)
                return make(Ast::Kind::name, begin);
            return begin.text == "container_of" ? container_of(begin) : call(begin);
        case Kind::end:
            fail("something is missing here: an operand" + unquoted_glob());
        default:
            refuse_assignment();
            fail(fmt::format("an operand is missing before {}{}", lexer_.shown(begin.at), unquoted_glob()));
        }
    }

    // Functions may have an argument of that name, which nothing follows that it could name. The token is taken if so.
    bool is_argument_called_as() {
        const Saved before = save();
        advance();
        if (token_.kind == Kind::end || token_.kind == Kind::comma || token_.kind == Kind::right_parenthesis)
            return true;
        restore(before);
        return false;
    }

    // Behind "O_*" or "kworker*", with nothing to multiply by, what was meant; else nothing.
    std::string unquoted_glob() const {
        constexpr std::string_view of_globs = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_*?";
        const std::string_view before = std::string_view(*text_).substr(0, last_end_);
        const std::string_view glob = before.substr(before.find_last_not_of(of_globs) + 1);
        return glob.ends_with('*') && glob.front() != '*' ? fmt::format("; a glob stands in quotes: \"{}\"", glob) : "";
    }

    Node call(const Token &name) {
        Node made = make(Ast::Kind::call, name);
        const Token begin = token_;
        advance();
        if (!accept(Kind::right_parenthesis)) {
            for (;;) {
                made->operands.push_back(expression());
                if (!accept(Kind::comma))
                    break;
            }
            close(begin);
        }
        return ended(std::move(made));
    }

    Node container_of(const Token &name) {
        Node made = make(Ast::Kind::container_of, name);
        const Token begin = token_;
        advance();
        made->operands.push_back(expression());
        expect(Kind::comma, "','");
        made->type = type_name();
        expect(Kind::comma, "','");
        if (token_.kind != Kind::name)
            fail(fmt::format("a member's name is missing{}", before()));
        Node designator = make(Ast::Kind::member, token_);
        designator->operands.push_back(make(Ast::Kind::self, name));
        advance();
        made->operands.push_back(postfix(std::move(designator)));
        close(begin);
        return ended(std::move(made));
    }

    Node postfix(Node operand) {
        for (int operators = 0;; operators++) {
            if (operators > nesting_max)
                fail("this is nested too deeply");
            Node made;
            if (token_.kind == Kind::dot || token_.kind == Kind::arrow) {
                const Ast::Kind kind =
                    token_.kind == Kind::dot ? Ast::Kind::member : Ast::Kind::arrow;
                advance();
                if (token_.kind != Kind::name || token_.text.front() == '$')
                    fail(fmt::format("a member's name is missing{}", before()));
                made = make(kind, token_);
                advance();
                made->at = operand->at;
                made->operands.push_back(std::move(operand));
            } else if (token_.kind == Kind::left_bracket) {
                made = make(Ast::Kind::index, token_);
                made->at = operand->at;
                advance();
                made->operands.push_back(std::move(operand));
                made->operands.push_back(expression());
                expect(Kind::right_bracket, "']'");
            } else if (token_.kind == Kind::left_parenthesis) {
                made = called_member(std::move(operand));
            } else {
                return operand;
            }
            operand = ended(std::move(made));
        }
    }

    /// What methods of strings and containers are here: `x.size()` is len(x), `x.empty()` len(x) == 0, and `x.c_str()` str(x).
    Node called_member(Node method) {
        const bool is_method = method->kind == Ast::Kind::member || method->kind == Ast::Kind::arrow;
        const std::string name = method->token.text;
        const bool is_empty = name == "empty" || name == "is_empty", is_size = name == "size" || name == "length" || name == "len";
        const bool is_text = name == "c_str" || name == "as_str";
        if (!is_method || !(is_empty || is_size || is_text))
            fail(is_method ? fmt::format("{}() cannot be called: of methods there are size(), length(), empty() and c_str(), of strings and containers", name)
                           : "a function is called by its name, as in str(ADDRESS)");
        const Token begin = token_;
        advance();
        if (token_.kind != Kind::right_parenthesis)
            fail(fmt::format("{}() has no operands here", name));
        close(begin);
        Node made = make(Ast::Kind::call, method->token);
        made->token.text = is_text ? "str" : "len";
        made->at = method->at;
        made->operands = std::move(method->operands);
        return is_empty ? is_zero(ended(std::move(made))) : std::move(made);
    }

    /// `node == 0`, which stands nowhere.
    Node is_zero(Node node) const {
        Token zero = node->token;
        zero.kind = Kind::number;
        zero.value = 0;
        zero.is_decimal = true;
        Node made = make(Ast::Kind::binary, node->token);
        made->binary = BinaryOperator::equal;
        made->at = node->at;
        made->parenthesized = true;
        made->operands.push_back(std::move(node));
        made->operands.push_back(ended(make(Ast::Kind::number, zero)));
        return made;
    }

    std::shared_ptr<const std::string> text_;
    Lexer lexer_;
    Token token_;
    std::size_t last_end_ = 0; // of the token before token_
    int depth_ = 0;
};

} // namespace

std::string_view Expression::plain_name() const {
    const bool plain =
        root_->kind == Ast::Kind::name && !root_->parenthesized && root_->token.text.front() != '$';
    return plain ? std::string_view(root_->token.text) : std::string_view();
}

ParsedArguments parse_arguments(const std::string &text, std::size_t at) {
    return Parser(std::make_shared<const std::string>(text), at).arguments();
}

std::vector<ArgumentExpression> parse_values(const std::string &text, std::size_t at) {
    return Parser(std::make_shared<const std::string>(text), at).values();
}

TypeName parse_type(const std::string &text) {
    return Parser(std::make_shared<const std::string>(text), 0).type();
}

Expression parse_condition(const std::string &text, std::size_t at) {
    return Parser(std::make_shared<const std::string>(text), at).condition();
}

} // namespace argtrace::lang
