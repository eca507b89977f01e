// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <sys/un.h>
#include <utility>

#include <fmt/format.h>

#include "lang/checker.h"
#include "lang/expression_error.h"

namespace argtrace::lang {

namespace {

constexpr std::uint32_t texts_default = 256; // bytes of strs() without a size

} // namespace

// As many elements of what the pointer points to as there are, as far as they have room.
NodePtr Checker::call_array(const Ast &ast) {
    require_operands(ast, 2, 3, "array(POINTER, COUNT) or array(POINTER, COUNT, MAX)");
    const Ast &operand = *ast.operands[0];
    NodePtr from = rvalue(check(operand), operand);
    if (traits(*from).kind != TypeKind::pointer)
        fail(operand.at, fmt::format("{} is no pointer to the first element: {}", written(operand), name(from->type)));
    const Type element = types_.target(from->type);
    const std::uint64_t bytes = size_of(element, ast, operand.at);
    if (bytes < 1 || bytes > recorded_bytes_max)
        fail(operand.at, fmt::format("an element has {} bytes, and 1 to {} are recorded", bytes, recorded_bytes_max));
    require_one_place(*from, operand, operand.at);
    NodePtr count = integer(*ast.operands[1], "a number of elements");
    const bool is_signed = traits(*count).is_signed;
    const Type wide = is_signed ? long_type : ulong_type;
    NodePtr size = arithmetic(ARGTRACE_ALU_MUL, convert(std::move(count), wide), make_constant(bytes, wide, ast), ast);
    NodePtr node = make_node(Node::Kind::buffer, element, ast, std::move(from));
    const std::uint64_t elements_max = recorded_bytes_max / bytes;
    node->limit = static_cast<std::uint32_t>(bytes * (ast.operands.size() > 2 ? std::min<std::uint64_t>(length(*ast.operands[2]), elements_max) : elements_max));
    if (size->is_constant()) {
        if (size->value < 1 || size->value > recorded_bytes_max)
            fail(ast.operands[1]->at, fmt::format("so many elements have {} bytes, and 1 to {} are recorded", static_cast<std::int64_t>(size->value), recorded_bytes_max));
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
    NodePtr node = bytes_at(ast, *type, recorded_bytes_max);
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
    node->limit = recorded_bytes_max;
    node->is_array = true;
    node->elements = ArrayOf::pointers;
    node->operands.push_back(make_constant(recorded_bytes_max, ulong_type, ast));
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
        return arithmetic(ARGTRACE_ALU_AND, arithmetic(ARGTRACE_ALU_SUB, number(0, ulong_type), std::move(begin), ast), number(page_bytes_min - 1, ulong_type), ast);
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

// len(x), and cap(x), which Go has alone.
NodePtr Checker::call_len(const Ast &ast) {
    const std::string &function = ast.token.text;
    require_operands(ast, 1, 1, function + "(VALUE)");
    const Ast &operand = *ast.operands[0];
    const NodePtr value = check(operand);
    const bool is_len = function == "len";
    if (is_len && types_.go_kind(value->type) == GoKind::none && traits(*value).kind == TypeKind::array)
        return make_constant(types_.count(value->type), long_type, ast);
    if (is_go())
        return go_length(*value, ast);
    if (NodePtr number = is_len ? number_of_elements(value->type, operand) : nullptr)
        return number;
    fail(operand.at, fmt::format("{}() takes {}, and {} is a {}", function,
                                 is_len ? "an array, or a string, a vector or another container of a program" : "a slice or channel of Go", written(operand),
                                 name(value->type)));
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
    node->limit = static_cast<std::uint32_t>(std::min(size_of(*type, ast, operand.at), recorded_bytes_max));
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

} // namespace argtrace::lang
