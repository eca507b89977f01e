// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lang/checker.h"
#include "lang/expression_error.h"
#include "lang/glob_pattern.h"
#include "util/near_match.h"
#include "util/suggestion.h"

namespace argtrace::lang {

namespace {

constexpr std::string_view known_functions[]{"str",  "buf",  "text",     "array", "records", "pointers", "on_page", "head", "strs", "path", "cgroup_path", "fd",       "pfn",
                                             "flags", "name", "sockaddr", "sym",   "cpus", "only", "user",        "kernel",   "this_cpu",
                                             "per_cpu", "reg", "len", "cap", "element", "type"};

} // namespace

std::string explain_recorded_only(const Ast &call) {
    const std::string &function = call.token.text;
    return fmt::format("{}() can be recorded, and nothing else{}", function,
                       function == "path"          ? "; the last name of it can be compared, as in file->f_path.dentry->d_name.name == \"passwd\""
                       : function == "cgroup_path" ? "; what can be compared is cgroup, its number"
                                                   : "");
}

// Where a text is that is compared: a node of kind `text`. Null if it is none.
NodePtr Checker::as_text(NodePtr node, const Ast &ast) const {
    if (node->kind == Node::Kind::text)
        return node;
    const TypeTraits known = traits(*node);
    const bool array = node->kind == Node::Kind::object && known.kind == TypeKind::array;
    if (!array && known.kind != TypeKind::pointer)
        return nullptr;
    if (!types_.traits(types_.target(node->type)).is_byte())
        return nullptr;
    const std::uint32_t count = array ? types_.count(node->type) : 0;
    node = rvalue(std::move(node), ast);
    require_one_place(*node, ast, ast.at);
    NodePtr text =
        make_node(Node::Kind::text, char_type.pointer(), ast, std::move(node));
    text->fixed_size = count > 0;
    text->limit = count > 0 ? std::min<std::uint32_t>(count, ARGTRACE_TEXT_MAX) : ARGTRACE_TEXT_MAX;
    return text;
}

NodePtr Checker::text_test(NodePtr text, const TextPattern &pattern, bool negated,
                           const Ast &operand, const Ast &ast) {
    text = go_value(std::move(text), operand);
    if (NodePtr meant = text_of_program(*text, operand, text_default))
        text = std::move(meant);
    if (text->kind == Node::Kind::register_object)
        fail(operand.at, "this array is in registers, where it cannot be compared");
    if (text->kind == Node::Kind::buffer && text->type == char_type.pointer())
        return counted_text_test(std::move(text), pattern, negated, operand, ast);
    if (text->kind == Node::Kind::path || text->kind == Node::Kind::buffer || text->kind == Node::Kind::texts)
        fail(operand.at, explain_recorded_only(operand));
    const std::string found = name(text->type);
    text = as_text(std::move(text), operand);
    if (!text)
        fail(operand.at, fmt::format("{} is a {}, not text: text is an array of characters, "
                                     "a pointer to one, or str(ADDRESS)",
                                     written(operand), found));
    if (pattern.text.size() >= ARGTRACE_MATCH_MAX)
        fail(ast.token.at,
             fmt::format("texts are compared with {} characters at most", ARGTRACE_MATCH_MAX - 1));
    if (pattern.text.size() > text->limit)
        fail(ast.token.at, fmt::format("this never holds: {} has room for {} characters, and the "
                                       "text has {}",
                                       written(operand), text->limit, pattern.text.size()));
    text->kind = Node::Kind::text_test;
    text->type = int_type;
    text->pattern = pattern;
    text->negated = negated;
    return text;
}

// A text that says how long it is, of which there may be no more: its length first, then as many characters as that.
NodePtr Checker::counted_text_test(NodePtr text, const TextPattern &pattern, bool negated, const Ast &operand, const Ast &ast) const {
    const std::size_t size = pattern.text.size();
    if (pattern.match != ARGTRACE_MATCH_WHOLE && pattern.match != ARGTRACE_MATCH_PREFIX)
        fail(ast.token.at, fmt::format("{} has a length of its own: it is compared with a whole text, or with a glob of its beginning, as in ~ \"abc*\"",
                                       written(operand)));
    if (size >= ARGTRACE_MATCH_MAX)
        fail(ast.token.at, fmt::format("texts are compared with {} characters at most", ARGTRACE_MATCH_MAX - 1));
    NodePtr length = convert(std::move(text->operands[1]), ulong_type);
    NodePtr bytes = make_constant(size, ulong_type, ast);
    const bool is_whole = pattern.match == ARGTRACE_MATCH_WHOLE;
    NodePtr is_long_enough = is_whole ? compare(ARGTRACE_ALU_EQ, negated, std::move(length), std::move(bytes), ast)
                                      : compare(ARGTRACE_ALU_LT, !negated, std::move(length), std::move(bytes), ast);
    if (size == 0)
        return is_long_enough;
    text->operands.pop_back();
    text->kind = Node::Kind::text_test;
    text->type = int_type;
    text->pattern = {ARGTRACE_MATCH_PREFIX, pattern.text};
    text->negated = negated;
    text->limit = static_cast<std::uint32_t>(size);
    NodePtr both = make_node(negated ? Node::Kind::logical_or : Node::Kind::logical_and, int_type, ast, std::move(is_long_enough));
    both->operands.push_back(std::move(text));
    return both;
}

// Beside a text, a name of nothing is one that lacks its quotes.
void Checker::require_quotes(const Ast &text, const Ast &name) {
    if (name.kind != Ast::Kind::name || is_known(name) || (text.kind == Ast::Kind::name && !is_known(text)))
        return;
    if (as_text(check(text), text))
        fail(name.at, fmt::format("{} has no argument {}, and it is no builtin or constant either; text stands in quotes: \"{}\"",
                                  scope_.function(), name.token.text, name.token.text));
}

// Null, and the operands are as before, if none of them is a literal.
NodePtr Checker::text_comparison(NodePtr &left, NodePtr &right, const Ast &ast) {
    const bool negated = ast.binary == BinaryOperator::not_equal;
    const bool left_literal = left->kind == Node::Kind::string;
    const bool right_literal = right->kind == Node::Kind::string;
    if (left_literal && right_literal)
        return make_constant((left->pattern.text == right->pattern.text) != negated, int_type, ast);
    if (left_literal || right_literal) {
        const std::string &literal = (left_literal ? left : right)->pattern.text;
        NodePtr &other = left_literal ? right : left;
        const Ast &operand = *ast.operands[left_literal ? 1 : 0];
        return text_test(std::move(other), {ARGTRACE_MATCH_WHOLE, literal}, negated, operand, ast);
    }
    const auto is_text = [this](const Node &node) {
        return node.kind == Node::Kind::text || (is_go() && types_.go_kind(node.type) == GoKind::string) || (node.kind == Node::Kind::buffer && node.type == char_type.pointer()) ||
               (node.kind == Node::Kind::object && traits(node).kind == TypeKind::array &&
                types_.traits(types_.target(node.type)).is_char);
    };
    if (is_text(*left) && is_text(*right))
        fail(ast.token.at, "two texts are compared only if one of them is written here, as in "
                           "comm == \"sh\"");
    return nullptr;
}

NodePtr Checker::glob_comparison(const Ast &ast) {
    const Ast &first = *ast.operands[0], &second = *ast.operands[1];
    const std::string_view op = ast.binary == BinaryOperator::matches ? "~" : "!~";
    if (second.kind != Ast::Kind::string)
        fail(second.at, fmt::format("on the right of {} stands a glob in quotes, as in comm {} "
                                    "\"kworker*\"",
                                    op, op));
    NodePtr text = check(first);
    const NodePtr glob = check(second);
    const bool negated = ast.binary == BinaryOperator::not_matches;
    if (text->kind == Node::Kind::string)
        fail(first.at, "on the left of a glob stands what differs from call to call");
    return text_test(std::move(text), simplest_pattern(glob->pattern.text), negated, first, ast);
}

void Checker::require_operands(const Ast &ast, std::size_t least, std::size_t most,
                               std::string_view usage) const {
    if (ast.operands.size() < least || ast.operands.size() > most)
        fail(ast.token.at, fmt::format("it is {}, with {} operand{}", usage,
                                       least == most ? fmt::format("{}", least)
                                                     : fmt::format("{} or {}", least, most),
                                       most == 1 ? "" : "s"));
}

NodePtr Checker::check_call(const Ast &ast) {
    const std::string &name = ast.token.text;
    if (name == "str")
        return call_str(ast);
    if (name == "buf")
        return call_buf(ast);
    if (name == "text")
        return call_text(ast);
    if (name == "array")
        return call_array(ast);
    if (name == "records")
        return call_records(ast);
    if (name == "pointers")
        return call_pointers(ast);
    if (name == "on_page")
        return call_on_page(ast);
    if (name == "len" || name == "cap")
        return call_len(ast);
    if (name == "element")
        return call_element(ast);
    if (name == "type")
        return call_type(ast);
    if (name == "head")
        return call_head(ast);
    if (name == "strs")
        return call_strs(ast);
    if (name == "fd")
        return call_fd(ast);
    if (name == "path")
        return call_path(ast);
    if (name == "cgroup_path")
        return call_cgroup_path(ast);
    if (name == "pfn")
        return call_pfn(ast);
    if (name == "sockaddr")
        return call_sockaddr(ast);
    if (name == "sym")
        return call_sym(ast);
    if (name == "cpus")
        return call_cpus(ast);
    if (name == "only")
        return call_only(ast);
    if (name == "flags" || name == "name")
        return call_flags(ast);
    if (name == "user" || name == "kernel")
        return call_space(ast, name == "user" ? Space::user : Space::kernel);
    if (name == "this_cpu" || name == "per_cpu")
        return call_per_cpu(ast);
    if (name == "reg")
        return call_reg(ast);
    if (name.starts_with("ntoh") || name.starts_with("hton") || name.ends_with("_to_cpu"))
        fail(ast.token.at, fmt::format("there is no function {}, and no need for one: numbers of the types __be16, __be32 and __be64 are "
                                       "converted when they are read",
                                       name));
    const std::string near = did_you_mean(near_match(name, known_functions));
    fail(ast.token.at, fmt::format("there is no function {}{}", name,
                                   near.empty() ? fmt::format("; there are {}",
                                                              fmt::join(known_functions, ", "))
                                                : near));
}

/// A node as an address: of a pointer its value, as of 64-bit integers; of what is in memory
/// where that is.
NodePtr Checker::address(NodePtr node, const Ast &ast) const {
    if (node->kind == Node::Kind::object && traits(*node).kind == TypeKind::aggregate)
        return std::move(node->operands.front());
    node = require_scalar(rvalue(std::move(node), ast), ast);
    const TypeTraits known = traits(*node);
    if (known.bytes != 8)
        fail(ast.at, fmt::format("{} is no address: {}", written(ast), this->name(node->type)));
    require_one_place(*node, ast, ast.at);
    if (known.kind == TypeKind::pointer)
        return node;
    const Space where = space(*node);
    return convert(std::move(node), void_pointer.in(where));
}

/// The struct or union that it is, or points to.
std::optional<Type> Checker::pointed_aggregate(const Node &node) const {
    const Type type = traits(node).kind == TypeKind::pointer ? types_.target(node.type) : node.type;
    return types_.traits(type).kind == TypeKind::aggregate ? std::optional(type) : std::nullopt;
}

// A number of bytes that is written as such.
std::uint32_t Checker::length(const Ast &ast) {
    const NodePtr node = integer(ast, "a length");
    if (!node->is_constant())
        fail(ast.at, "the length of str() is a constant, as the text ends at its NUL; buf(ADDRESS, LENGTH) takes a length that differs from call to call");
    if (node->value < 1 || node->value > ARGTRACE_TEXT_MAX)
        fail(ast.at, fmt::format("a length is 1 to {}", ARGTRACE_TEXT_MAX));
    return static_cast<std::uint32_t>(node->value);
}

// What the table of types has as the text of a struct of the program; null where it has none.
NodePtr Checker::text_of_program(const Node &node, const Ast &operand, std::uint32_t limit) {
    const Expression *const meaning = scope_.contents_of(node.type).text;
    if (!meaning)
        return nullptr;
    NodePtr text;
    try {
        text = Checker(*meaning, *this, operand).value(meaning->root());
    } catch (const ExpressionError &error) {
        fail(operand.at, fmt::format("the text of {} cannot be read here: {}", name(node.type), error.sentence()));
    }
    text->limit = text->fixed_size ? std::min(text->limit, limit) : limit;
    text->at = operand.at;
    return text;
}

NodePtr Checker::call_str(const Ast &ast) {
    require_operands(ast, 1, 2, "str(ADDRESS) or str(ADDRESS, LENGTH)");
    const Ast &operand = *ast.operands[0];
    NodePtr node = check(operand);
    if (node->kind == Node::Kind::text || node->kind == Node::Kind::string)
        fail(operand.at, "this is a text already");
    const std::uint32_t limit = ast.operands.size() > 1 ? length(*ast.operands[1]) : 0;
    if (NodePtr text = text_of_program(*node, operand, limit ? limit : text_default))
        return text;
    const std::string found = this->name(node->type);
    const bool untyped = traits(*node).is_integer() ||
                         (traits(*node).kind == TypeKind::pointer &&
                          types_.traits(types_.target(node->type)).kind == TypeKind::void_);
    if (untyped) { // an address all the same
        NodePtr text = make_node(Node::Kind::text, char_type.pointer(), ast,
                                 address(std::move(node), operand));
        text->limit = limit ? limit : text_default;
        return text;
    }
    node = as_text(std::move(node), operand);
    if (!node)
        fail(operand.at, fmt::format("{} is a {}, and no pointer to characters; cast it, as in "
                                     "str((char *)NAME)",
                                     written(operand), found));
    if (limit && limit < node->limit) {
        node->limit = limit;
        node->fixed_size = false; // it need not end there
    } else if (!node->fixed_size) {
        node->limit = limit ? limit : text_default;
    }
    node->at = ast.at;
    return node;
}

// As many bytes at the first operand as the second says, at most `limit`, shown as `type` says.
NodePtr Checker::bytes_at(const Ast &ast, Type type, std::uint32_t limit) {
    NodePtr from = address(check(*ast.operands[0]), *ast.operands[0]);
    NodePtr size = integer(*ast.operands[1], "a length");
    NodePtr node = make_node(Node::Kind::buffer, type, ast, std::move(from));
    node->limit = size->is_constant() ? std::min(limit, length(*ast.operands[1])) : limit;
    node->is_signed = traits(*size).is_signed;
    node->operands.push_back(convert(std::move(size), ulong_type));
    return node;
}

NodePtr Checker::call_buf(const Ast &ast) {
    require_operands(ast, 2, 2, "buf(ADDRESS, LENGTH)");
    return bytes_at(ast, void_pointer, ARGTRACE_TEXT_MAX);
}

// A program has strings and arrays of nothing; where a system call has been given nothing, there is no value.
bool Checker::has_empty_values() const {
    return scope_.kind().number == ARGTRACE_KIND_USER;
}

// buf() that is shown as text, NULs and all. Without a length it ends with a NUL.
NodePtr Checker::call_text(const Ast &ast) {
    require_operands(ast, 1, 3, "text(ADDRESS), text(ADDRESS, LENGTH) or text(ADDRESS, LENGTH, MAX)");
    if (ast.operands.size() == 1 && is_go() && types_.go_kind(check(*ast.operands[0])->type) == GoKind::interface)
        return text_in_interface(ast);
    if (ast.operands.size() == 1) {
        NodePtr text = make_node(Node::Kind::text, char_type.pointer(), ast, address(check(*ast.operands[0]), *ast.operands[0]));
        text->limit = scope_.text_bytes();
        return text;
    }
    NodePtr text = bytes_at(ast, char_type.pointer(), ast.operands.size() > 2 ? length(*ast.operands[2]) : scope_.text_bytes());
    text->may_be_empty = has_empty_values();
    return text;
}

} // namespace argtrace::lang
