// SPDX-License-Identifier: GPL-2.0-only
#include <utility>

#include <fmt/format.h>

#include "lang/arithmetic.h"
#include "lang/checker.h"

namespace argtrace::lang {

namespace {

argtrace_alu alu_of(BinaryOperator op) {
    switch (op) {
    case BinaryOperator::multiply:
        return ARGTRACE_ALU_MUL;
    case BinaryOperator::divide:
        return ARGTRACE_ALU_DIV;
    case BinaryOperator::modulo:
        return ARGTRACE_ALU_MOD;
    case BinaryOperator::subtract:
        return ARGTRACE_ALU_SUB;
    case BinaryOperator::shift_left:
        return ARGTRACE_ALU_SHL;
    case BinaryOperator::shift_right:
        return ARGTRACE_ALU_SHR;
    case BinaryOperator::bit_and:
        return ARGTRACE_ALU_AND;
    case BinaryOperator::bit_or:
        return ARGTRACE_ALU_OR;
    case BinaryOperator::bit_xor:
        return ARGTRACE_ALU_XOR;
    default:
        return ARGTRACE_ALU_ADD;
    }
}

bool is_comparison(BinaryOperator op) {
    return op >= BinaryOperator::less && op <= BinaryOperator::not_equal;
}

bool is_glob_operator(BinaryOperator op) {
    return op == BinaryOperator::matches || op == BinaryOperator::not_matches;
}

bool is_shift(argtrace_alu op) {
    return op == ARGTRACE_ALU_SHL || op == ARGTRACE_ALU_SHR;
}

/// Its value is 0 or 1, an int.
bool is_truth(const Node &node) {
    switch (node.kind) {
    case Node::Kind::compare:
    case Node::Kind::logical_not:
    case Node::Kind::logical_and:
    case Node::Kind::logical_or:
    case Node::Kind::text_test:
        return true;
    default:
        return false;
    }
}

constexpr std::uint64_t sign_of_double = std::uint64_t{1} << 63;

unsigned bytes_of(Type type) {
    return is_wide(type) ? 8 : 4;
}

} // namespace

Type Checker::promoted_type(const Node &node) const {
    const bool field = node.kind == Node::Kind::load || node.kind == Node::Kind::extract;
    return promoted(traits(node), field ? node.bits : 0);
}

NodePtr Checker::convert(NodePtr node, Type type) const {
    const TypeTraits to = types_.traits(type);
    if (node->is_constant()) {
        node->value = extend(node->value, static_cast<unsigned>(8 * to.bytes), to.is_signed);
        node->type = type;
        return node;
    }
    const bool field = node->kind == Node::Kind::load || node->kind == Node::Kind::extract;
    if (node->type == type && !(field && node->bits > 0))
        return node;
    auto made = std::make_unique<Node>();
    made->kind = Node::Kind::convert;
    made->type = type;
    made->at = node->at;
    made->operands.push_back(std::move(node));
    return made;
}

NodePtr Checker::to_bool(NodePtr node, Type type, const Ast &ast) const {
    const Type from = promoted_type(*node);
    return convert(compare(ARGTRACE_ALU_EQ, true, convert(std::move(node), from),
                           make_constant(0, from, ast), ast),
                   type);
}

NodePtr Checker::arithmetic(argtrace_alu op, NodePtr left, NodePtr right, const Ast &ast) const {
    Type type = promoted_type(*left);
    const Type other = promoted_type(*right);
    if (!is_shift(op))
        type = common_type(type, other);
    left = convert(std::move(left), type);
    right = convert(std::move(right), is_shift(op) ? other : type);

    const unsigned bits = 8 * bytes_of(type);
    if (is_shift(op) && right->is_constant() && right->value >= bits)
        fail(ast.token.at, fmt::format("{} has {} bits, and cannot be shifted by {}", name(type),
                                       bits, static_cast<std::int64_t>(right->value)));
    if ((op == ARGTRACE_ALU_DIV || op == ARGTRACE_ALU_MOD) && right->is_constant() &&
        right->value == 0)
        fail(ast.token.at, "this divides by zero");
    if (left->is_constant() && right->is_constant())
        return make_constant(
            *compute(op, left->value, right->value, bytes_of(type), is_signed(type)), type, ast);
    NodePtr node = make_node(Node::Kind::arithmetic, type, ast, std::move(left));
    node->operands.push_back(std::move(right));
    node->alu = op;
    return node;
}

NodePtr Checker::pointer_sum(NodePtr pointer, NodePtr integer, bool subtract,
                             const Ast &ast) const {
    const Type type = pointer->type;
    const std::uint64_t size = size_of(types_.target(type), ast, ast.token.at);
    NodePtr bytes = scaled(std::move(integer), size, ast);
    if (bytes->is_constant())
        return make_offset(std::move(pointer), subtract ? 0 - bytes->value : bytes->value, type,
                           ast);
    // The sum begins with what has to be computed: adding a pointer is one instruction then.
    if (!subtract)
        std::swap(pointer, bytes);
    NodePtr node = make_node(Node::Kind::arithmetic, type, ast, std::move(pointer));
    node->operands.push_back(std::move(bytes));
    node->alu = subtract ? ARGTRACE_ALU_SUB : ARGTRACE_ALU_ADD;
    return node;
}

NodePtr Checker::pointer_difference(NodePtr left, NodePtr right, const Ast &ast) const {
    const Type a = types_.target(left->type), b = types_.target(right->type);
    const std::uint64_t size = size_of(a, ast, ast.token.at);
    if (size_of(b, ast, ast.token.at) != size || !types_.same(a, b))
        fail(ast.token.at,
             fmt::format("a {} and a {} have no distance", name(left->type), name(right->type)));
    if (size == 0)
        fail(ast.token.at, fmt::format("{} has no size to divide the distance by", name(a)));
    NodePtr bytes = arithmetic(ARGTRACE_ALU_SUB, convert(std::move(left), long_type),
                               convert(std::move(right), long_type), ast);
    return size == 1 ? std::move(bytes)
                     : arithmetic(ARGTRACE_ALU_DIV, std::move(bytes),
                                  make_constant(size, long_type, ast), ast);
}

NodePtr Checker::compare(argtrace_alu op, bool negated, NodePtr left, NodePtr right,
                         const Ast &ast) const {
    const Type type = common_type(promoted_type(*left), promoted_type(*right));
    left = convert(std::move(left), type);
    right = convert(std::move(right), type);
    if (left->is_constant() && right->is_constant()) {
        const auto result = compute(op, left->value, right->value, 8, is_signed(type));
        return make_constant(*result != (negated ? 1u : 0u), int_type, ast);
    }
    // What is 0 or 1 already is itself, or the opposite.
    if (op == ARGTRACE_ALU_EQ && is_truth(*left) && right->is_constant() && right->value <= 1)
        return (right->value == 1) != negated
                   ? std::move(left)
                   : make_node(Node::Kind::logical_not, int_type, ast, std::move(left));
    return make_comparison(op, negated, std::move(left), std::move(right), ast);
}

NodePtr Checker::comparison(NodePtr left, NodePtr right, const Ast &ast) const {
    switch (ast.binary) {
    case BinaryOperator::less:
        return compare(ARGTRACE_ALU_LT, false, std::move(left), std::move(right), ast);
    case BinaryOperator::less_equal:
        return compare(ARGTRACE_ALU_LE, false, std::move(left), std::move(right), ast);
    case BinaryOperator::greater:
        return compare(ARGTRACE_ALU_LE, true, std::move(left), std::move(right), ast);
    case BinaryOperator::greater_equal:
        return compare(ARGTRACE_ALU_LT, true, std::move(left), std::move(right), ast);
    default:
        return compare(ARGTRACE_ALU_EQ, ast.binary == BinaryOperator::not_equal, std::move(left),
                       std::move(right), ast);
    }
}

NodePtr Checker::check_binary(const Ast &ast) {
    const Ast &first = *ast.operands[0], &second = *ast.operands[1];
    if (is_glob_operator(ast.binary))
        return glob_comparison(ast);
    if (ast.binary == BinaryOperator::logical_and || ast.binary == BinaryOperator::logical_or) {
        const bool is_and = ast.binary == BinaryOperator::logical_and;
        NodePtr left = condition(first), right = condition(second);
        if (left->is_constant() && (left->value != 0) != is_and)
            return make_constant(is_and ? 0 : 1, int_type, ast);
        if (left->is_constant())
            return to_bool(std::move(right), int_type, ast);
        NodePtr node = make_node(is_and ? Node::Kind::logical_and : Node::Kind::logical_or,
                                 int_type, ast, std::move(left));
        node->operands.push_back(std::move(right));
        return node;
    }
    require_quotes(first, second);
    require_quotes(second, first);
    NodePtr left = check(first), right = check(second);
    if (ast.binary == BinaryOperator::equal || ast.binary == BinaryOperator::not_equal)
        if (NodePtr node = text_comparison(left, right, ast))
            return node;
    left = rvalue(std::move(left), first);
    right = rvalue(std::move(right), second);
    const bool is_floating = traits(*left).is_floating() || traits(*right).is_floating();
    if (!traits(*left).is_floating() || !is_comparison(ast.binary))
        left = require_scalar(std::move(left), first);
    if (!traits(*right).is_floating() || !is_comparison(ast.binary))
        right = require_scalar(std::move(right), second);
    if (is_floating)
        return floating_comparison(std::move(left), std::move(right), ast);
    if (is_comparison(ast.binary))
        return comparison(std::move(left), std::move(right), ast);

    const bool left_pointer = traits(*left).kind == TypeKind::pointer;
    const bool right_pointer = traits(*right).kind == TypeKind::pointer;
    if (ast.binary == BinaryOperator::subtract && left_pointer && right_pointer)
        return pointer_difference(std::move(left), std::move(right), ast);
    if (ast.binary == BinaryOperator::subtract && left_pointer)
        return pointer_sum(std::move(left), std::move(right), true, ast);
    if (ast.binary == BinaryOperator::add && left_pointer != right_pointer)
        return left_pointer ? pointer_sum(std::move(left), std::move(right), false, ast)
                            : pointer_sum(std::move(right), std::move(left), false, ast);
    if (left_pointer || right_pointer) {
        const Ast &pointer = left_pointer ? first : second;
        fail(ast.token.at,
             fmt::format("'{}' takes no pointers, and {} is a {}; cast it to unsigned long",
                         text_.substr(ast.token.at, ast.token.size), written(pointer),
                         name((left_pointer ? left : right)->type)));
    }
    return arithmetic(alu_of(ast.binary), std::move(left), std::move(right), ast);
}

NodePtr Checker::check_unary(const Ast &ast) {
    const Ast &operand = *ast.operands[0];
    switch (ast.unary) {
    case UnaryOperator::dereference:
        return dereference(ast);
    case UnaryOperator::address:
        return address_of(ast);
    case UnaryOperator::logical_not: {
        NodePtr node = condition(operand);
        if (node->is_constant())
            return make_constant(node->value == 0, int_type, ast);
        return make_node(Node::Kind::logical_not, int_type, ast, std::move(node));
    }
    default:
        break;
    }
    NodePtr node = rvalue(operand);
    if (traits(*node).is_floating() && node->is_constant() && ast.unary != UnaryOperator::complement) {
        node->value ^= ast.unary == UnaryOperator::minus ? sign_of_double : 0;
        return node;
    }
    node = require_integer(std::move(node), operand, "this operand");
    const Type type = promoted_type(*node);
    if (ast.unary == UnaryOperator::plus)
        return convert(std::move(node), type);
    if (ast.unary == UnaryOperator::minus)
        return arithmetic(ARGTRACE_ALU_SUB, make_constant(0, type, ast), std::move(node), ast);
    return arithmetic(ARGTRACE_ALU_XOR, std::move(node),
                      convert(make_constant(~std::uint64_t{0}, long_type, ast), type), ast);
}

NodePtr Checker::check_conditional(const Ast &ast) {
    NodePtr condition = this->condition(*ast.operands[0]);
    NodePtr first = scalar(*ast.operands[1]), second = scalar(*ast.operands[2]);
    const bool first_pointer = traits(*first).kind == TypeKind::pointer;
    const bool second_pointer = traits(*second).kind == TypeKind::pointer;
    Type type = common_type(promoted_type(*first), promoted_type(*second));
    if (first_pointer && second_pointer) {
        const TypeTraits a = types_.traits(types_.target(first->type));
        const TypeTraits b = types_.traits(types_.target(second->type));
        type = a.kind == TypeKind::void_ ? first->type : second->type; // as C has it
        if (a.kind != TypeKind::void_ && b.kind != TypeKind::void_ &&
            !types_.same(types_.target(first->type), types_.target(second->type)))
            fail(ast.token.at, fmt::format("this is either a {} or a {}: cast one of them",
                                           name(first->type), name(second->type)));
        const Space space = types_.space(first->type);
        if (space != types_.space(second->type))
            fail(ast.token.at, fmt::format("this is either a {} or a {}: user() or kernel() says of one of them where it points to",
                                           name(first->type), name(second->type)));
        type.space = space;
    } else if (first_pointer || second_pointer) {
        const Node &other = first_pointer ? *second : *first;
        if (!other.is_constant() || other.value != 0)
            fail(ast.token.at, fmt::format("this is either a {} or a {}: cast one of them",
                                           name(first->type), name(second->type)));
        type = first_pointer ? first->type : second->type;
    }
    first = convert(std::move(first), type);
    second = convert(std::move(second), type);
    if (condition->is_constant())
        return condition->value != 0 ? std::move(first) : std::move(second);
    return either(std::move(condition), std::move(first), std::move(second), ast);
}

} // namespace argtrace::lang
