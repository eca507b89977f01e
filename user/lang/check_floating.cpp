// SPDX-License-Identifier: GPL-2.0-only
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "lang/arithmetic.h"
#include "lang/checker.h"
#include "lang/floating.h"

namespace argtrace::lang {

namespace {

/// A comparison as there are instructions for it. Of numbers that may be NaN, `x > y` is no `!(x <= y)`: it is `y < x`.
struct Comparison {
    argtrace_alu op;
    bool negated = false, swapped = false;
};

Comparison comparison_of(BinaryOperator op) {
    switch (op) {
    case BinaryOperator::less:
        return {ARGTRACE_ALU_LT};
    case BinaryOperator::less_equal:
        return {ARGTRACE_ALU_LE};
    case BinaryOperator::greater:
        return {.op = ARGTRACE_ALU_LT, .swapped = true};
    case BinaryOperator::greater_equal:
        return {.op = ARGTRACE_ALU_LE, .swapped = true};
    default:
        return {.op = ARGTRACE_ALU_EQ, .negated = op == BinaryOperator::not_equal};
    }
}

/// LT or LE of a float and what is nearest to the double that it is compared with, as C compares it with the double itself: no float is
/// between them.
argtrace_alu as_float(argtrace_alu op, bool constant_is_left, double constant, double nearest) {
    if (nearest == constant)
        return op;
    return (nearest > constant) != constant_is_left ? ARGTRACE_ALU_LT : ARGTRACE_ALU_LE;
}

} // namespace

// At least one of them is a float or a double.
NodePtr Checker::floating_comparison(NodePtr left, NodePtr right, const Ast &ast) const {
    Comparison comparison = comparison_of(ast.binary);
    if (comparison.swapped)
        std::swap(left, right);
    if (left->is_constant() && right->is_constant())
        fail(ast.token.at, "this compares two numbers, and is the same for all calls");
    if (!left->is_constant() && !right->is_constant()) {
        if (!types_.same(left->type, right->type))
            fail(ast.token.at, fmt::format("a {} is compared with another one, or with a number that is written, and not with a {}",
                                           name(left->type), name(right->type)));
        return make_comparison(comparison.op, comparison.negated, std::move(left), std::move(right), ast);
    }
    Node &constant = left->is_constant() ? *left : *right;
    const Node &variable = left->is_constant() ? *right : *left;
    if (!traits(variable).is_floating())
        fail(ast.token.at, fmt::format("a {} is compared with whole numbers, and this has a fraction or an exponent", name(variable.type)));
    double number = 0;
    if (traits(constant).is_floating())
        number = std::bit_cast<double>(constant.value);
    else if (is_signed(constant.type))
        number = static_cast<double>(static_cast<std::int64_t>(constant.value));
    else
        number = static_cast<double>(constant.value);
    constant.type = variable.type;
    constant.value = std::bit_cast<std::uint64_t>(number);
    if (traits(variable).bytes == sizeof(float)) {
        const double nearest = static_cast<float>(number);
        if (comparison.op == ARGTRACE_ALU_EQ && nearest != number)
            return make_constant(comparison.negated, int_type, ast); // no float is that number
        comparison.op = as_float(comparison.op, &constant == left.get(), number, nearest);
        constant.value = float_bits(number);
    }
    return make_comparison(comparison.op, comparison.negated, std::move(left), std::move(right), ast);
}

} // namespace argtrace::lang
