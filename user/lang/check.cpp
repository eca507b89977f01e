// SPDX-License-Identifier: GPL-2.0-only
#include "lang/check.h"

#include <utility>

#include <fmt/format.h>

#include "lang/checker.h"
#include "lang/expression_error.h"

namespace argtrace::lang {

NodePtr make_node(Node::Kind kind, Type type, const Ast &ast) {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->type = type;
    node->at = ast.at;
    return node;
}

NodePtr make_node(Node::Kind kind, Type type, const Ast &ast, NodePtr operand) {
    NodePtr node = make_node(kind, type, ast);
    node->operands.push_back(std::move(operand));
    return node;
}

NodePtr make_constant(std::uint64_t value, Type type, const Ast &ast) {
    NodePtr node = make_node(Node::Kind::constant, type, ast);
    node->value = value;
    return node;
}

NodePtr make_comparison(argtrace_alu op, bool negated, NodePtr left, NodePtr right, const Ast &ast) {
    NodePtr node = make_node(Node::Kind::compare, int_type, ast, std::move(left));
    node->operands.push_back(std::move(right));
    node->alu = op;
    node->negated = negated;
    return node;
}

NodePtr make_source(std::uint8_t source, std::uint8_t index, Type type, const Ast &ast) {
    NodePtr node = make_node(Node::Kind::source, type, ast);
    node->source = source;
    node->index = index;
    return node;
}

NodePtr make_offset(NodePtr address, std::uint64_t bytes, Type pointer, const Ast &ast) {
    pointer.space = address->type.space;
    if (address->is_constant())
        return make_constant(address->value + bytes, pointer, ast);
    if (address->kind == Node::Kind::offset) {
        address->value += bytes;
        address->type = pointer;
        return address;
    }
    NodePtr node = make_node(Node::Kind::offset, pointer, ast, std::move(address));
    node->value = bytes;
    return node;
}

NodePtr copy_of(const Node &node) {
    auto copy = std::make_unique<Node>();
    static_cast<NodeProperties &>(*copy) = node;
    for (const NodePtr &operand : node.operands)
        copy->operands.push_back(copy_of(*operand));
    return copy;
}

void Checker::fail(std::size_t at, std::string_view sentence) const {
    throw ExpressionError(text_, at, sentence);
}

std::string_view Checker::written(const Ast &ast) const {
    return std::string_view(text_).substr(ast.at, ast.end - ast.at);
}

NodePtr Checker::check(const Ast &ast) {
    switch (ast.kind) {
    case Ast::Kind::number:
        return check_number(ast);
    case Ast::Kind::string: {
        NodePtr node = make_node(Node::Kind::string, char_type.pointer(), ast);
        node->pattern.text = ast.token.text;
        if (node->pattern.text.find('\0') != std::string::npos)
            fail(ast.at, "a text ends at its first NUL, and this has one within");
        if (node->pattern.text.size() > ARGTRACE_TEXT_MAX - 1)
            fail(ast.at,
                 fmt::format("texts have at most {} characters here", ARGTRACE_TEXT_MAX - 1));
        return node;
    }
    case Ast::Kind::name:
        return check_name(ast);
    case Ast::Kind::member:
    case Ast::Kind::arrow:
        return check_member(ast);
    case Ast::Kind::index:
        return check_index(ast);
    case Ast::Kind::call:
        return check_call(ast);
    case Ast::Kind::unary:
        return check_unary(ast);
    case Ast::Kind::binary:
        return check_binary(ast);
    case Ast::Kind::conditional:
        return check_conditional(ast);
    case Ast::Kind::cast:
        return check_cast(ast);
    case Ast::Kind::size_of:
    case Ast::Kind::size_of_type:
        return check_size(ast);
    case Ast::Kind::container_of:
        return check_container(ast);
    case Ast::Kind::self: // the struct at address 0: its members' addresses are their offsets
        return make_node(Node::Kind::object, container_, ast,
                         make_constant(0, container_.pointer(), ast));
    case Ast::Kind::at_return:
        return check_at_return(ast);
    }
    fail(ast.at, "this is no expression");
}

NodePtr Checker::rvalue(NodePtr node, const Ast &ast) const {
    const TypeTraits known = traits(*node);
    if (node->kind == Node::Kind::object && known.kind == TypeKind::array) {
        const Type element = types_.target(node->type);
        NodePtr address = std::move(node->operands.front());
        address->type = element.pointer().in(address->type.space);
        return address;
    }
    if (node->kind == Node::Kind::object && known.kind == TypeKind::function) {
        NodePtr address = std::move(node->operands.front());
        return address;
    }
    // Said of the value, as the types that it will have may not say it.
    if (known.kind == TypeKind::pointer)
        node->type.space = types_.space(node->type);
    const bool read = node->kind == Node::Kind::load || node->kind == Node::Kind::extract;
    if (read && known.is_big_endian && node->bits == 0 && known.bytes > 1) {
        const Type type = node->type;
        return make_node(Node::Kind::swap, type, ast, std::move(node));
    }
    return node;
}

NodePtr Checker::require_scalar(NodePtr node, const Ast &ast) const {
    const TypeTraits known = traits(*node);
    switch (node->kind) {
    case Node::Kind::string:
        fail(ast.at, "a text can be compared with ==, != and ~, and nothing else");
    case Node::Kind::text:
        fail(ast.at, "str() is a text, which can be recorded, or compared with a literal");
    case Node::Kind::buffer:
    case Node::Kind::texts:
    case Node::Kind::path:
        fail(ast.at, explain_recorded_only(ast));
    case Node::Kind::stack:
        fail(ast.at, "the stack can be recorded, or be a key, and nothing else");
    default:
        break;
    }
    switch (known.kind) {
    case TypeKind::integer:
    case TypeKind::enumeration:
        if (known.bytes > 8)
            fail(ast.at, fmt::format("{} has {} bits: there are no operators for that",
                                     name(node->type), 8 * known.bytes));
        return node;
    case TypeKind::pointer:
        return node;
    case TypeKind::floating:
        if (!known.is_floating())
            fail(ast.at, fmt::format("{} is a floating-point number, which can be recorded: there are no operators for it", name(node->type)));
        fail(ast.at, fmt::format("{} is a floating-point number, which can be recorded, compared and be a key: there is no arithmetic with it",
                                 name(node->type)));
    case TypeKind::void_:
        fail(ast.at, "this has no value: it is void");
    case TypeKind::aggregate:
        if (node->kind == Node::Kind::load)
            fail(ast.at, explain_recorded_only(ast));
        fail(ast.at, fmt::format("this is a {}: name one of its members", name(node->type)));
    default:
        fail(ast.at,
             fmt::format("this is a {}, which has no value to compute with", name(node->type)));
    }
}

NodePtr Checker::scalar(const Ast &ast) {
    return require_scalar(rvalue(ast), ast);
}

NodePtr Checker::integer(const Ast &ast, std::string_view what) {
    return require_integer(rvalue(ast), ast, what);
}

NodePtr Checker::require_integer(NodePtr node, const Ast &ast, std::string_view what) const {
    node = require_scalar(std::move(node), ast);
    if (!traits(*node).is_integer())
        fail(ast.at,
             fmt::format("{} must be an integer, and this is a {}", what, name(node->type)));
    return node;
}

NodePtr Checker::condition(const Ast &ast) {
    NodePtr node = rvalue(ast);
    if (!traits(*node).is_floating())
        return require_scalar(std::move(node), ast);
    NodePtr zero = make_constant(0, node->type, ast);
    return make_comparison(ARGTRACE_ALU_EQ, true, std::move(node), std::move(zero), ast);
}

// Numbers in memory that there are no operators for: __int128, long double.
bool Checker::is_recorded_as_bytes(const TypeTraits &type) {
    constexpr std::uint64_t wide_bytes = 16;
    return type.bytes == wide_bytes && (type.kind == TypeKind::integer || type.kind == TypeKind::floating);
}

NodePtr Checker::value(const Ast &ast) {
    NodePtr node = go_value(check(ast), ast);
    switch (node->kind) {
    case Node::Kind::object:
    case Node::Kind::register_object: {
        const TypeTraits known = traits(*node);
        if (known.kind == TypeKind::function)
            return rvalue(std::move(node), ast);
        if (node->kind == Node::Kind::register_object && !is_go())
            if (NodePtr whole = whole_object(*node, ast))
                return whole;
        if (node->kind == Node::Kind::register_object)
            fail(ast.at, "a part of a struct that is passed in registers is not recorded: name one "
                         "of its members");
        if (known.kind != TypeKind::aggregate && known.kind != TypeKind::array)
            fail(ast.at, fmt::format("this is a {}, which has no value", name(node->type)));
        // An argument is shown as it is, and beside it with -d what it means.
        if (ast.kind != Ast::Kind::name)
            if (NodePtr text = text_of_program(*node, ast, text_default))
                return text;
        if (is_cpumask(node->type))
            return cpus_at(std::move(node->operands.front()), node->type, ast);
        if (known.bytes == 0)
            fail(ast.at, fmt::format("{} has no size: name one of its elements, or write "
                                     "buf(ADDRESS, LENGTH)",
                                     name(node->type)));
        if (known.bytes > ARGTRACE_TEXT_MAX)
            fail(ast.at, fmt::format("{} has {} bytes, and at most {} are recorded: name a member",
                                     name(node->type), known.bytes, ARGTRACE_TEXT_MAX));
        return node;
    }
    case Node::Kind::string:
        fail(ast.at, "a text that is written here is the same for all calls");
    case Node::Kind::text:
    case Node::Kind::buffer:
    case Node::Kind::texts:
    case Node::Kind::stack:
    case Node::Kind::path:
        return node;
    case Node::Kind::load:
        if (traits(*node).kind == TypeKind::aggregate) // cpus()
            return node;
        if (is_recorded_as_bytes(traits(*node)) && node->bits == 0) {
            node->kind = Node::Kind::object;
            return node;
        }
        break;
    default:
        break;
    }
    node = rvalue(std::move(node), ast);
    return traits(*node).is_floating() ? std::move(node) : require_scalar(std::move(node), ast);
}

NodePtr check_condition(const Scope &scope, const Expression &expression) {
    return Checker(scope, expression).condition(expression.root());
}

std::optional<Type> type_of(const Scope &scope, const Expression &expression, std::string_view subject) {
    try {
        return Checker(scope, expression, subject).type(expression.root());
    } catch (const ExpressionError &) {
        return std::nullopt;
    }
}

NodePtr check_value(const Scope &scope, const Expression &expression, std::string_view subject) {
    return Checker(scope, expression, subject).value(expression.root());
}

} // namespace argtrace::lang
