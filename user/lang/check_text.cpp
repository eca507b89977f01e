// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <bit>
#include <netinet/in.h>
#include <sys/un.h>
#include <utility>

#include <fmt/format.h>

#include "lang/checker.h"
#include "lang/expression_error.h"
#include "lang/flag_names.h"
#include "lang/glob_pattern.h"
#include "util/cpus.h"
#include "util/near_match.h"
#include "util/suggestion.h"

namespace argtrace::lang {

namespace {

constexpr std::uint32_t text_default = 256; // bytes of str() without a size
constexpr std::uint32_t texts_default = 256; // and of strs()

constexpr std::size_t flags_max = 256;

constexpr std::uint64_t bytes_max = ARGTRACE_TEXT_MAX;
constexpr std::uint64_t page_bytes = 4096; // the smallest that machines have

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
                           const Ast &operand, const Ast &ast) const {
    text = go_value(std::move(text), operand);
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
NodePtr Checker::text_comparison(NodePtr &left, NodePtr &right, const Ast &ast) const {
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
    const Expression *meaning = types_.program_struct(node.type).empty() ? nullptr : scope_.text_of(node.type);
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

// As many elements of what the pointer points to as there are, as far as they have room.
NodePtr Checker::call_array(const Ast &ast) {
    require_operands(ast, 2, 3, "array(POINTER, COUNT) or array(POINTER, COUNT, MAX)");
    const Ast &operand = *ast.operands[0];
    NodePtr from = rvalue(check(operand), operand);
    if (traits(*from).kind != TypeKind::pointer)
        fail(operand.at, fmt::format("{} is no pointer to the first element: {}", written(operand), name(from->type)));
    const Type element = types_.target(from->type);
    const std::uint64_t bytes = size_of(element, ast, operand.at);
    if (bytes < 1 || bytes > bytes_max)
        fail(operand.at, fmt::format("an element has {} bytes, and 1 to {} are recorded", bytes, bytes_max));
    require_one_place(*from, operand, operand.at);
    NodePtr count = integer(*ast.operands[1], "a number of elements");
    const bool is_signed = traits(*count).is_signed;
    const Type wide = is_signed ? long_type : ulong_type;
    NodePtr size = arithmetic(ARGTRACE_ALU_MUL, convert(std::move(count), wide), make_constant(bytes, wide, ast), ast);
    NodePtr node = make_node(Node::Kind::buffer, element, ast, std::move(from));
    const std::uint64_t elements_max = bytes_max / bytes;
    node->limit = static_cast<std::uint32_t>(bytes * (ast.operands.size() > 2 ? std::min<std::uint64_t>(length(*ast.operands[2]), elements_max) : elements_max));
    if (size->is_constant()) {
        if (size->value < 1 || size->value > bytes_max)
            fail(ast.operands[1]->at, fmt::format("so many elements have {} bytes, and 1 to {} are recorded", static_cast<std::int64_t>(size->value), bytes_max));
        node->limit = std::min(node->limit, static_cast<std::uint32_t>(size->value));
    }
    node->is_signed = is_signed;
    node->is_array = true;
    node->may_be_empty = has_empty_values();
    node->operands.push_back(std::move(size));
    return node;
}

// Bytes with a struct at their beginning, and another behind it, as far as its length goes that it tells itself.
NodePtr Checker::call_records(const Ast &ast) {
    require_operands(ast, 2, 2, "records(POINTER, BYTES)");
    const Ast &operand = *ast.operands[0];
    const NodePtr from = rvalue(check(operand), operand);
    const auto type = pointed_aggregate(*from);
    if (!type || traits(*from).kind != TypeKind::pointer)
        fail(operand.at, fmt::format("records() takes a pointer to the first of several structs, and {} is a {}", written(operand), name(from->type)));
    NodePtr node = bytes_at(ast, *type, bytes_max);
    node->is_array = true;
    node->elements = ArrayOf::records;
    return node;
}

// As many pointers as are recorded, what is behind NULL among them: who shows them ends there.
NodePtr Checker::call_pointers(const Ast &ast) {
    require_operands(ast, 1, 1, "pointers(POINTER)");
    const Ast &operand = *ast.operands[0];
    NodePtr from = rvalue(check(operand), operand);
    if (traits(*from).kind != TypeKind::pointer || types_.traits(types_.target(from->type)).kind != TypeKind::pointer)
        fail(operand.at, fmt::format("pointers() takes an array of pointers that ends with NULL, and {} is a {}", written(operand), name(from->type)));
    require_one_place(*from, operand, operand.at);
    NodePtr node = make_node(Node::Kind::buffer, ulong_type, ast, std::move(from));
    node->limit = bytes_max;
    node->is_array = true;
    node->elements = ArrayOf::pointers;
    node->operands.push_back(make_constant(bytes_max, ulong_type, ast));
    return node;
}

// What of it is on the page where it begins, and nothing if that is all: beside it, for a page behind that is not there.
NodePtr Checker::call_on_page(const Ast &ast) {
    require_operands(ast, 1, 1, "on_page(ARRAY)");
    const Ast &operand = *ast.operands[0];
    NodePtr node = check(operand);
    const bool is_address = node->kind == Node::Kind::buffer && node->limit == sizeof(sockaddr_un);
    if (node->kind != Node::Kind::buffer || !(node->is_array || is_address) || node->elements == ArrayOf::records)
        fail(operand.at, "on_page() takes what array(), pointers() or sockaddr() yields");
    constexpr std::uint32_t first_max = 256; // beside all of them
    if (node->elements == ArrayOf::all && !is_address)
        node->limit = std::min(node->limit, first_max);
    const Type type = node->is_signed ? long_type : ulong_type;
    const auto number = [&](std::uint64_t value, Type of) { return make_constant(value, of, ast); };
    const auto left = [&] { // 0 at the beginning of a page
        NodePtr begin = convert(copy_of(*node->operands[0]), ulong_type);
        return arithmetic(ARGTRACE_ALU_AND, arithmetic(ARGTRACE_ALU_SUB, number(0, ulong_type), std::move(begin), ast), number(page_bytes - 1, ulong_type), ast);
    };
    NodePtr size = std::move(node->operands[1]);
    NodePtr ends_within = compare(ARGTRACE_ALU_LT, false, arithmetic(ARGTRACE_ALU_SUB, left(), number(1, ulong_type), ast), number(node->limit - 1, ulong_type), ast);
    if (!size->is_constant()) {
        NodePtr goes_beyond = compare(ARGTRACE_ALU_LT, false, convert(left(), type), convert(std::move(size), type), ast);
        NodePtr both = make_node(Node::Kind::logical_and, int_type, ast, std::move(ends_within));
        both->operands.push_back(std::move(goes_beyond));
        ends_within = std::move(both);
    }
    node->operands[1] = convert(either(std::move(ends_within), left(), number(0, ulong_type), ast), ulong_type);
    node->is_signed = false;
    node->elements = node->elements == ArrayOf::pointers ? ArrayOf::pointers_of_page : ArrayOf::page;
    return node;
}

// The number, or `most` if it is greater.
NodePtr Checker::number_up_to(const Ast &operand, const char *what, std::uint64_t most, const Ast &ast) {
    const auto number = [&] { return convert(integer(operand, what), ulong_type); };
    const auto limit = [&] { return make_constant(most, ulong_type, ast); };
    return either(compare(ARGTRACE_ALU_LT, false, number(), limit(), ast), number(), limit(), ast);
}

// A struct as far as the number of bytes goes: a program may know the first members alone, and have no more memory.
NodePtr Checker::call_head(const Ast &ast) {
    require_operands(ast, 2, 2, "head(POINTER, BYTES)");
    const Ast &operand = *ast.operands[0];
    NodePtr from = rvalue(check(operand), operand);
    const auto type = pointed_aggregate(*from);
    if (!type || traits(*from).kind != TypeKind::pointer)
        fail(operand.at, fmt::format("head() takes a pointer to a struct or union, and {} is a {}", written(operand), name(from->type)));
    require_one_place(*from, operand, operand.at);
    NodePtr node = make_node(Node::Kind::buffer, *type, ast, std::move(from));
    node->limit = static_cast<std::uint32_t>(std::min(size_of(*type, ast, operand.at), bytes_max));
    node->operands.push_back(number_up_to(*ast.operands[1], "a number of bytes", node->limit, ast));
    return node;
}

NodePtr Checker::call_strs(const Ast &ast) {
    require_operands(ast, 1, 2, "strs(POINTER) or strs(POINTER, LENGTH)");
    const Ast &operand = *ast.operands[0];
    NodePtr from = rvalue(check(operand), operand);
    const Type target = traits(*from).kind == TypeKind::pointer ? types_.target(from->type) : from->type;
    if (traits(*from).kind != TypeKind::pointer || types_.traits(target).kind != TypeKind::pointer ||
        !types_.traits(types_.target(target)).is_byte())
        fail(operand.at, fmt::format("strs() takes an array of pointers to characters that ends with NULL, and {} is a {}", written(operand), name(from->type)));
    require_one_place(*from, operand, operand.at);
    NodePtr node = make_node(Node::Kind::texts, char_type.pointer(), ast, std::move(from));
    node->limit = ast.operands.size() > 1 ? length(*ast.operands[1]) : texts_default;
    return node;
}

// The struct file * of a descriptor of the current task; NULL where it has none of that number.
NodePtr Checker::call_fd(const Ast &ast) {
    require_operands(ast, 1, 1, "fd(DESCRIPTOR)");
    const Ast &operand = *ast.operands[0];
    const Type file = find_struct("file", ast.token.at).pointer().in(Space::kernel);
    NodePtr node = make_node(Node::Kind::file, file, ast, convert(integer(operand, "a descriptor"), uint_type));
    node->may_be_null = true;
    return node;
}

NodePtr Checker::call_path(const Ast &ast) {
    require_operands(ast, 1, 1, "path(POINTER)");
    const Ast &operand = *ast.operands[0];
    NodePtr node = check(operand);
    const bool in_place = node->kind == Node::Kind::object;
    if (!in_place)
        node = rvalue(std::move(node), operand);
    const Type type = in_place ? node->type : types_.target(node->type);
    const bool pointer = in_place || traits(*node).kind == TypeKind::pointer;
    const auto is = [&](const char *structure) {
        TypeName wanted;
        wanted.tag = TypeName::Tag::structure;
        wanted.name = structure;
        const auto found = types_.find(wanted);
        return pointer && found && types_.same(*found, type);
    };
    const bool file = is("file"), dentry = is("dentry");
    if (!file && !dentry && !is("path"))
        fail(operand.at, fmt::format("path() takes a struct file *, struct path * or struct dentry "
                                     "*, and {} is a {}",
                                     written(operand), this->name(node->type)));
    NodePtr from = in_place ? std::move(node->operands.front()) : std::move(node);
    const bool may_be_null = from->may_be_null;
    require_one_place(*from, operand, operand.at);
    if (space(*from) == Space::user)
        fail(operand.at, fmt::format("{} is in user memory, and what has a path is the kernel's", written(operand)));
    if (file) {
        const auto member = types_.member(type, "f_path");
        if (!member)
            fail(ast.token.at, "BTF describes no f_path in struct file");
        from = make_offset(std::move(from), member->bit_offset / 8, member->type.pointer(), ast);
    }
    const Type address_type = from->type;
    NodePtr path = make_node(Node::Kind::path, address_type, ast, std::move(from));
    path->may_be_null = may_be_null;
    path->value = dentry ? ARGTRACE_PATH_OF_DENTRY : ARGTRACE_PATH_OF_PATH;
    return path;
}

// In the unified hierarchy, which every task is in.
NodePtr Checker::call_cgroup_path(const Ast &ast) {
    if (!ast.operands.empty())
        fail(ast.operands[0]->at, "cgroup_path() is that of the current task, and has no operands");
    NodePtr kn = meant("task->cgroups->dfl_cgrp->kn", "cgroup_path() is", ast);
    const Type type = kn->type;
    NodePtr path = make_node(Node::Kind::path, type, ast, std::move(kn));
    path->value = ARGTRACE_PATH_OF_NODE;
    return path;
}

// page_to_pfn(), of what can be read: a NULL pointer has no number.
NodePtr Checker::call_pfn(const Ast &ast) {
    require_operands(ast, 1, 1, "pfn(POINTER)");
    const Ast &operand = *ast.operands[0];
    const auto pointer = [&] { return rvalue(check(operand), operand); };
    const NodePtr first = pointer();
    const Type type = find_struct("page", ast.token.at);
    const auto is = [&](Type of) { return types_.same(types_.target(first->type), of); };
    TypeName folio;
    folio.tag = TypeName::Tag::structure;
    folio.name = "folio";
    const auto known_folio = types_.find(folio);
    if (traits(*first).kind != TypeKind::pointer || !(is(type) || (known_folio && is(*known_folio))))
        fail(operand.at, fmt::format("pfn() takes a struct page * or struct folio *, and {} is a {}",
                                     written(operand), this->name(first->type)));
    require_one_place(*first, operand, operand.at);
    if (space(*first) == Space::user)
        fail(operand.at, fmt::format("{} is a pointer to user memory, and pages are described in the kernel's", written(operand)));
    const std::uint64_t size = size_of(type, ast, ast.token.at);
    const auto base = types_.variable("vmemmap_base");
    if (!base)
        fail(ast.at, "the number of a page is not known on this kernel: it has no variable "
                     "vmemmap_base, or /proc/kallsyms does not list it");
    const auto number = [&](std::uint64_t value) { return make_constant(value, ulong_type, ast); };
    NodePtr read = make_node(Node::Kind::load, Type::of(Type::Basic::uchar), ast, pointer());
    NodePtr nothing =
        arithmetic(ARGTRACE_ALU_AND, convert(std::move(read), ulong_type), number(0), ast);
    NodePtr address = arithmetic(ARGTRACE_ALU_ADD, std::move(nothing),
                                 convert(pointer(), ulong_type), ast);
    NodePtr bytes = arithmetic(ARGTRACE_ALU_SUB, std::move(address),
                               make_node(Node::Kind::load, ulong_type, ast, number(*base)), ast);
    return std::has_single_bit(size)
               ? arithmetic(ARGTRACE_ALU_SHR, std::move(bytes),
                            number(static_cast<std::uint64_t>(std::countr_zero(size))), ast)
               : arithmetic(ARGTRACE_ALU_DIV, std::move(bytes), number(size), ast);
}

// The constants that the second operand of flags() or name() stands for: a glob, or one of an enum's.
std::vector<FlagName> Checker::constants_named(const Ast &ast, bool one) {
    if (ast.kind == Ast::Kind::name)
        if (std::vector<FlagName> all = enumerators_beside(types_, ast.token.text); !all.empty())
            return all;
    if (ast.kind != Ast::Kind::string)
        fail(ast.at, "this is a glob in quotes of the names of constants, as in \"O_*\"");
    std::vector<FlagName> named = flag_names(types_, check(ast)->pattern.text, one);
    if (named.empty())
        fail(ast.at, "no constant has such a name");
    return named;
}

// flags() and name(), which is of one constant.
NodePtr Checker::call_flags(const Ast &ast) {
    const std::string &function = ast.token.text;
    require_operands(ast, 2, 2, function + "(VALUE, \"GLOB\")");
    const Ast &names = *ast.operands[1];
    NodePtr node = integer(*ast.operands[0], function == "name" ? "name" : "flags");
    node->one_flag = function == "name";
    node->flags = constants_named(names, node->one_flag);
    drop_too_large(node->flags, traits(*node).bytes);
    if (node->flags.empty())
        fail(names.at, fmt::format("none of these constants fits in {}, which has {} bits", written(*ast.operands[0]), 8 * traits(*node).bytes));
    if (const auto ambiguous = find_ambiguous(types_, node->flags)) {
        const auto &[first, second] = *ambiguous;
        const std::string in_enum = types_.enum_of(second.name) ? second.name : types_.enum_of(first.name) ? first.name : "";
        fail(names.at, fmt::format("several of these constants have one value: {} and {} are both {}; write globs of fewer, as in \"A_*|B_*\"{}",
                                   first.name, second.name, static_cast<std::int64_t>(first.value),
                                   in_enum.empty() ? "" : fmt::format(", or one constant of the enum that is meant, as in {}({}, {})", function, written(*ast.operands[0]), in_enum)));
    }
    if (node->flags.size() > flags_max)
        fail(names.at, fmt::format("{} constants have such names, and a value is shown by at most {}",
                                   node->flags.size(), flags_max));
    return node;
}

NodePtr Checker::either(NodePtr condition, NodePtr first, NodePtr second, const Ast &ast) const {
    const Type type = first->type;
    NodePtr node = make_node(Node::Kind::conditional, type, ast, std::move(condition));
    node->operands.push_back(std::move(first));
    node->operands.push_back(std::move(second));
    return node;
}

// What its family has of it: behind that may be a page that is not there. A name of AF_UNIX is as long as
// bind() was told; it is read up to the end of its page, if it may reach it.
NodePtr Checker::length_of_sockaddr(const Ast &operand, const Ast &ast) {
    const auto number = [&](std::uint64_t value) { return make_constant(value, ulong_type, ast); };
    const auto begin = [&] { return address(check(operand), operand); };
    const auto is_of = [&](std::uint64_t family) {
        NodePtr read = make_node(Node::Kind::load, Type::of(Type::Basic::ushort), ast, begin());
        return compare(ARGTRACE_ALU_EQ, false, convert(std::move(read), ulong_type), number(family),
                       ast);
    };
    const auto left_of_page = [&] { // 0 at its beginning
        return arithmetic(ARGTRACE_ALU_AND,
                          arithmetic(ARGTRACE_ALU_SUB, number(0), convert(begin(), ulong_type), ast),
                          number(page_bytes - 1), ast);
    };
    NodePtr reaches_end =
        compare(ARGTRACE_ALU_LT, false, arithmetic(ARGTRACE_ALU_SUB, left_of_page(), number(1), ast),
                number(sizeof(sockaddr_un) - 1), ast);
    NodePtr name = either(std::move(reaches_end), left_of_page(), number(sizeof(sockaddr_un)), ast);
    NodePtr other = either(is_of(AF_UNIX), std::move(name), number(sizeof(sa_family_t)), ast);
    other = either(is_of(AF_INET6), number(sizeof(sockaddr_in6)), std::move(other), ast);
    return either(is_of(AF_INET), number(sizeof(sockaddr_in)), std::move(other), ast);
}

NodePtr Checker::call_sockaddr(const Ast &ast) {
    require_operands(ast, 1, 2, "sockaddr(POINTER) or sockaddr(POINTER, LENGTH)");
    const Type type = find_struct("sockaddr_in6", ast.token.at);
    const Ast &operand = *ast.operands[0];
    NodePtr from = check(operand);
    // struct sockaddr, those of families, and struct __kernel_sockaddr_storage.
    if (const auto other = pointed_aggregate(*from); other && name(*other).find("sockaddr") == std::string::npos)
        fail(operand.at, fmt::format("sockaddr() takes a struct sockaddr *, and {} is a {}; cast it, as in sockaddr((struct sockaddr *)NAME)",
                                     written(operand), name(from->type)));
    NodePtr node = make_node(Node::Kind::buffer, type, ast, address(std::move(from), operand));
    node->limit = sizeof(sockaddr_un);
    if (ast.operands.size() == 1) {
        node->operands.push_back(length_of_sockaddr(operand, ast));
        return node;
    }
    // What is behind the length may be of another address. Up to it a name is whole, which the type says to those who show it.
    TypeName name_of_unix;
    name_of_unix.tag = TypeName::Tag::structure;
    name_of_unix.name = "sockaddr_un";
    node->type = types_.find(name_of_unix).value_or(type);
    node->operands.push_back(number_up_to(*ast.operands[1], "a length", node->limit, ast));
    return node;
}

NodePtr Checker::call_cpus(const Ast &ast) {
    require_operands(ast, 1, 1, "cpus(POINTER)");
    const Type type = find_struct("cpumask", ast.token.at);
    const Ast &operand = *ast.operands[0];
    NodePtr from = check(operand);
    if (const auto other = pointed_aggregate(*from); other && !types_.same(*other, type))
        fail(operand.at, fmt::format("cpus() takes a struct cpumask *, and {} is a {}; cast it, as in cpus((struct cpumask *)NAME)",
                                     written(operand), name(from->type)));
    return cpus_at(address(std::move(from), operand), type, ast);
}

// As much of a struct cpumask as this machine has CPUs: not all of it need be there, and what is behind them may be anything. Up to 64
// are a number.
NodePtr Checker::cpus_at(NodePtr address, Type type, const Ast &ast) const {
    const std::uint64_t cpus = possible_cpus(), bytes = types_.traits(type).bytes;
    if (constexpr std::uint32_t word = 64; cpus <= word && bytes >= word / 8) {
        NodePtr node = make_node(Node::Kind::load, type, ast, std::move(address));
        node->limit = word / 8;
        node->bits = static_cast<std::uint32_t>(cpus);
        return node;
    }
    NodePtr node = make_node(Node::Kind::buffer, type, ast, std::move(address));
    node->limit = static_cast<std::uint32_t>(std::min({(cpus + 7) / 8, bytes, bytes_max}));
    node->operands.push_back(make_constant(node->limit, ulong_type, ast));
    return node;
}

bool Checker::is_cpumask(Type type) const {
    TypeName wanted;
    wanted.tag = TypeName::Tag::structure;
    wanted.name = "cpumask";
    const auto known = types_.find(wanted);
    return known && types_.same(*known, type);
}

// The value that an output has of nothing where the condition does not hold: bytes of the length 0, or what is at NULL.
NodePtr Checker::call_only(const Ast &ast) {
    require_operands(ast, 2, 2, "only(VALUE, CONDITION)");
    const Ast &operand = *ast.operands[0];
    NodePtr value = check(operand);
    const auto number = [&](std::uint64_t size) { return make_constant(size, ulong_type, ast); };
    const std::uint64_t bytes = traits(*value).bytes;
    const bool in_memory = (value->kind == Node::Kind::load && value->bits == 0) ||
                           value->kind == Node::Kind::object;
    const bool is_data = value->kind == Node::Kind::buffer || value->kind == Node::Kind::text || value->kind == Node::Kind::texts ||
                         value->kind == Node::Kind::path;
    if (!is_data && (!in_memory || value->type.basic != Type::Basic::none || value->type.stars > 0))
        fail(operand.at, "the value of only() is a member, what a pointer to one of the kernel's types points to, or a text, bytes or "
                         "a path");
    if (!is_data && (bytes < 1 || bytes > ARGTRACE_TEXT_MAX))
        fail(operand.at, fmt::format("{} has {} bytes, and 1 to {} are recorded",
                                     this->name(value->type), bytes, ARGTRACE_TEXT_MAX));
    NodePtr condition = scalar(*ast.operands[1]);
    if (condition->is_constant())
        fail(ast.operands[1]->at, "this condition is the same for all calls");
    if (is_data) { // of which the length is 0, or the address
        const bool has_length = value->kind == Node::Kind::buffer;
        NodePtr &operand_or_0 = value->operands[has_length ? 1 : 0];
        const Type type = operand_or_0->type;
        operand_or_0 = either(std::move(condition), std::move(operand_or_0), convert(number(0), type), ast);
        value->may_be_null = !has_length;
        value->may_be_empty = false;
        return value;
    }
    NodePtr node = make_node(Node::Kind::buffer, value->type, ast,
                             std::move(value->operands.front()));
    node->limit = static_cast<std::uint32_t>(bytes);
    node->operands.push_back(either(std::move(condition), number(bytes), number(0), ast));
    return node;
}

NodePtr Checker::call_sym(const Ast &ast) {
    require_operands(ast, 1, 1, "sym(ADDRESS)");
    NodePtr node = convert(address(check(*ast.operands[0]), *ast.operands[0]), void_pointer);
    node->symbol = true;
    return node;
}

} // namespace argtrace::lang
