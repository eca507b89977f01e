// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/event_expression.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "lang/arithmetic.h"
#include "lang/constants.h"
#include "lang/expression_error.h"
#include "lang/glob_pattern.h"
#include "model/type.h"
#include "util/glob.h"

namespace argtrace {

namespace {

using lang::Ast;
using lang::BinaryOperator;
using lang::UnaryOperator;

bool is_text_code(std::uint8_t type) {
    return type_info(type).type_class == TypeClass::text;
}

bool is_glob_test(const Ast &ast) {
    return ast.binary == BinaryOperator::matches || ast.binary == BinaryOperator::not_matches;
}

bool is_logical(const Ast &ast) {
    return ast.binary == BinaryOperator::logical_and || ast.binary == BinaryOperator::logical_or;
}

lang::Type promoted_of(std::uint8_t code) {
    const TypeInfo &info = type_info(code);
    lang::TypeTraits traits;
    traits.kind = info.type_class == TypeClass::address ? lang::TypeTraits::Kind::pointer : lang::TypeTraits::Kind::integer;
    traits.bytes = info.size;
    traits.is_signed = info.is_signed;
    return lang::promoted(traits);
}

// C17 6.4.4.1: the first of the types that holds the number.
lang::Type type_of_literal(const lang::Token &token) {
    const bool fits_signed = !token.has_u;
    const bool fits_unsigned = token.has_u || !token.is_decimal;
    if (token.kind == lang::Token::Kind::character)
        return lang::int_type;
    if (fits_signed && !token.has_l && token.value <= std::numeric_limits<std::int32_t>::max())
        return lang::int_type;
    if (fits_unsigned && !token.has_l && token.value <= std::numeric_limits<std::uint32_t>::max())
        return lang::uint_type;
    return fits_signed && token.value <= std::numeric_limits<std::int64_t>::max() ? lang::long_type : lang::ulong_type;
}

/// The instruction, and whether its operands change places or its result is negated.
struct Instruction {
    argtrace_alu alu = ARGTRACE_ALU_ADD;
    bool swapped = false, negated = false;
    bool compares = false, shifts = false;
};

Instruction instruction_of(BinaryOperator op) {
    switch (op) {
    case BinaryOperator::multiply:
        return {ARGTRACE_ALU_MUL};
    case BinaryOperator::divide:
        return {ARGTRACE_ALU_DIV};
    case BinaryOperator::modulo:
        return {ARGTRACE_ALU_MOD};
    case BinaryOperator::subtract:
        return {ARGTRACE_ALU_SUB};
    case BinaryOperator::shift_left:
        return {.alu = ARGTRACE_ALU_SHL, .shifts = true};
    case BinaryOperator::shift_right:
        return {.alu = ARGTRACE_ALU_SHR, .shifts = true};
    case BinaryOperator::bit_and:
        return {ARGTRACE_ALU_AND};
    case BinaryOperator::bit_or:
        return {ARGTRACE_ALU_OR};
    case BinaryOperator::bit_xor:
        return {ARGTRACE_ALU_XOR};
    case BinaryOperator::less:
        return {.alu = ARGTRACE_ALU_LT, .compares = true};
    case BinaryOperator::greater:
        return {.alu = ARGTRACE_ALU_LT, .swapped = true, .compares = true};
    case BinaryOperator::less_equal:
        return {.alu = ARGTRACE_ALU_LE, .compares = true};
    case BinaryOperator::greater_equal:
        return {.alu = ARGTRACE_ALU_LE, .swapped = true, .compares = true};
    case BinaryOperator::equal:
        return {.alu = ARGTRACE_ALU_EQ, .compares = true};
    case BinaryOperator::not_equal:
        return {.alu = ARGTRACE_ALU_EQ, .negated = true, .compares = true};
    default:
        return {ARGTRACE_ALU_ADD};
    }
}

std::uint64_t converted(std::uint64_t number, lang::Type type) {
    return lang::extend(number, lang::is_wide(type) ? 64 : 32, lang::is_signed(type));
}

/// As text_test() of the language has it.
bool matches(const lang::TextPattern &pattern, std::string_view text) {
    switch (pattern.match) {
    case ARGTRACE_MATCH_PREFIX:
        return text.starts_with(pattern.text);
    case ARGTRACE_MATCH_SUFFIX:
        return text.ends_with(pattern.text);
    case ARGTRACE_MATCH_CONTAINS:
        return text.find(pattern.text) != text.npos;
    case ARGTRACE_MATCH_GLOB:
        return glob_matches(pattern.text, text);
    default:
        return text == pattern.text;
    }
}

} // namespace

EventExpression::EventExpression(lang::Expression expression)
    : expression_(std::move(expression)), keys_({}, std::nullopt) {
    collect(expression_.root());
    keys_ = EventKeys(names_, std::nullopt);
}

void EventExpression::collect(const Ast &ast) {
    switch (ast.kind) {
    case Ast::Kind::number:
        if (ast.token.is_floating)
            fail(ast, "what has been recorded is compared with whole numbers alone");
        return;
    case Ast::Kind::string:
        return;
    case Ast::Kind::name:
        // What is recorded may be called like a constant: a word in capitals is hardly meant so.
        if (!name_index(ast) && !lang::macro_constant(ast.token.text))
            names_.push_back({ast.token.text, ast.token.text, std::nullopt});
        return;
    case Ast::Kind::unary:
        if (ast.unary == UnaryOperator::dereference || ast.unary == UnaryOperator::address)
            break;
        collect(*ast.operands[0]);
        return;
    case Ast::Kind::binary:
    case Ast::Kind::conditional:
        for (const lang::AstPtr &operand : ast.operands)
            collect(*operand);
        return;
    default:
        break;
    }
    fail(ast, fmt::format("{} is not known of what has been recorded: values are, by their names, and comm, pid, tid and cpu",
                          written(ast)));
}

void EventExpression::fail(const Ast &ast, std::string_view sentence) const {
    throw lang::ExpressionError(expression_.text(), ast.at, sentence);
}

std::string_view EventExpression::written(const Ast &ast) const {
    return std::string_view(expression_.text()).substr(ast.at, ast.end - ast.at);
}

std::optional<std::size_t> EventExpression::name_index(const Ast &ast) const {
    const auto found = std::find_if(names_.begin(), names_.end(),
                                    [&ast](const RecordedValue &one) { return one.name == ast.token.text; });
    if (found == names_.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - names_.begin());
}

const std::string &EventExpression::check(const Probe &probe) {
    const std::string &missing = keys_.missing(probe);
    if (!missing.empty())
        return missing;
    const auto [known, added] = known_.try_emplace(&probe);
    types_ = &known->second;
    if (added) {
        known->second = keys_.types_of(probe);
        require_number(expression_.root());
    }
    return missing;
}

bool EventExpression::is_text(const Ast &ast) const {
    switch (ast.kind) {
    case Ast::Kind::string:
        return true;
    case Ast::Kind::name:
        if (const auto index = name_index(ast))
            return is_text_code((*types_)[*index].type);
        return false;
    case Ast::Kind::unary:
        require_number(*ast.operands[0]);
        return false;
    case Ast::Kind::binary:
        check_binary(ast);
        return false;
    case Ast::Kind::conditional:
        for (const lang::AstPtr &operand : ast.operands)
            require_number(*operand);
        return false;
    default:
        return false;
    }
}

void EventExpression::require_number(const Ast &ast) const {
    if (const auto index = ast.kind == Ast::Kind::name ? name_index(ast) : std::nullopt;
        index && type_info((*types_)[*index].type).type_class == TypeClass::floating)
        fail(ast, fmt::format("{} is a floating-point number, which is compared where it is recorded: 'FUNCTION if {} > 1.5'", written(ast),
                              written(ast)));
    if (is_text(ast))
        fail(ast, fmt::format("{} is a text, which can be compared with ==, != and ~ alone", written(ast)));
}

void EventExpression::check_binary(const Ast &ast) const {
    const Ast &left = *ast.operands[0], &right = *ast.operands[1];
    if (is_glob_test(ast)) {
        if (right.kind != Ast::Kind::string)
            fail(right, "on the right of ~ stands a glob in quotes, as in comm ~ \"kworker*\"");
        if (!is_text(left) || left.kind == Ast::Kind::string)
            fail(left, fmt::format("{} is no text that was recorded", written(left)));
        if (right.token.text.find_first_of("[\\") != std::string::npos)
            fail(right, "of what has been recorded, a glob may have * and ? alone");
        return;
    }
    const bool equality = ast.binary == BinaryOperator::equal || ast.binary == BinaryOperator::not_equal;
    if (!equality || is_text(left) == is_text(right)) {
        if (equality && is_text(left))
            return;
        require_number(left);
        require_number(right);
        return;
    }
    const Ast &text = is_text(left) ? left : right;
    fail(text, fmt::format("{} is a text, and is compared with a number", written(text)));
}

void EventExpression::look_at(const EventView &view) {
    view_ = &view;
    parts_ = *keys_.key_of(view);
}

bool EventExpression::holds(const EventView &view) {
    look_at(view);
    return truth(expression_.root()).value_or(false);
}

std::optional<std::uint64_t> EventExpression::number(const EventView &view) {
    look_at(view);
    const auto value = evaluate(expression_.root());
    if (!value)
        return std::nullopt;
    return value->number;
}

std::uint8_t EventExpression::number_type() const {
    const lang::Type type = type_of(expression_.root());
    if (lang::is_wide(type))
        return lang::is_signed(type) ? ARGTRACE_TYPE_S64 : ARGTRACE_TYPE_U64;
    return lang::is_signed(type) ? ARGTRACE_TYPE_S32 : ARGTRACE_TYPE_U32;
}

lang::Type EventExpression::type_of(const Ast &ast) const {
    switch (ast.kind) {
    case Ast::Kind::number:
        return type_of_literal(ast.token);
    case Ast::Kind::name:
        if (const auto index = name_index(ast))
            return promoted_of((*types_)[*index].type);
        return lang::int_type;
    case Ast::Kind::unary:
        return ast.unary == UnaryOperator::logical_not ? lang::int_type : type_of(*ast.operands[0]);
    case Ast::Kind::binary: {
        const Instruction instruction = instruction_of(ast.binary);
        if (is_logical(ast) || is_glob_test(ast) || instruction.compares)
            return lang::int_type;
        const lang::Type left = type_of(*ast.operands[0]);
        return instruction.shifts ? left : lang::common_type(left, type_of(*ast.operands[1]));
    }
    case Ast::Kind::conditional:
        return lang::common_type(type_of(*ast.operands[1]), type_of(*ast.operands[2]));
    default:
        return lang::int_type;
    }
}

std::optional<bool> EventExpression::truth(const Ast &ast) const {
    const auto value = evaluate(ast);
    if (!value)
        return std::nullopt;
    return value->number != 0;
}

std::optional<EventExpression::Operand> EventExpression::evaluate(const Ast &ast) const {
    switch (ast.kind) {
    case Ast::Kind::string:
        return Operand{.text = ast.token.text};
    case Ast::Kind::name:
        return name(ast);
    case Ast::Kind::unary:
        return unary(ast);
    case Ast::Kind::binary:
        return is_logical(ast) ? logical(ast) : binary(ast);
    case Ast::Kind::conditional: {
        const auto which = truth(*ast.operands[0]);
        if (!which)
            return std::nullopt;
        auto value = evaluate(*ast.operands[*which ? 1 : 2]);
        if (value) {
            value->type = type_of(ast);
            value->number = converted(value->number, value->type);
        }
        return value;
    }
    default:
        return Operand{ast.token.value, type_of_literal(ast.token)};
    }
}

std::optional<EventExpression::Operand> EventExpression::name(const Ast &ast) const {
    const auto index = name_index(ast);
    if (!index) {
        const auto value = *lang::macro_constant(ast.token.text);
        return Operand{static_cast<std::uint64_t>(value), lang::int_type};
    }
    const EventKeys::PartType &type = (*types_)[*index];
    if (type.argument && !view_->values[*type.argument].captured)
        return std::nullopt;
    const KeyPart &part = parts_[*index];
    if (is_text_code(type.type))
        return Operand{.text = part.text};
    return Operand{part.value.low, promoted_of(type.type)};
}

std::optional<EventExpression::Operand> EventExpression::unary(const Ast &ast) const {
    auto operand = evaluate(*ast.operands[0]);
    if (!operand)
        return std::nullopt;
    switch (ast.unary) {
    case UnaryOperator::logical_not:
        return Operand{operand->number == 0};
    case UnaryOperator::complement:
        operand->number = converted(~operand->number, operand->type);
        break;
    case UnaryOperator::minus:
        operand->number = converted(0 - operand->number, operand->type);
        break;
    default:
        break;
    }
    return operand;
}

std::optional<EventExpression::Operand> EventExpression::logical(const Ast &ast) const {
    const bool decides = ast.binary == BinaryOperator::logical_or;
    for (const lang::AstPtr &operand : ast.operands) {
        const auto value = truth(*operand);
        if (!value)
            return std::nullopt;
        if (*value == decides)
            return Operand{decides};
    }
    return Operand{!decides};
}

std::optional<EventExpression::Operand> EventExpression::binary(const Ast &ast) const {
    const auto left = evaluate(*ast.operands[0]), right = evaluate(*ast.operands[1]);
    if (!left || !right)
        return std::nullopt;
    if (is_glob_test(ast)) {
        const bool found = matches(lang::simplest_pattern(right->text), left->text);
        return Operand{found == (ast.binary == BinaryOperator::matches)};
    }
    if (is_text(*ast.operands[0]))
        return Operand{(left->text == right->text) == (ast.binary == BinaryOperator::equal)};
    const Instruction instruction = instruction_of(ast.binary);
    const lang::Type type = instruction.shifts ? left->type : lang::common_type(left->type, right->type);
    std::uint64_t a = converted(left->number, type);
    std::uint64_t b = instruction.shifts ? right->number : converted(right->number, type);
    if (instruction.swapped)
        std::swap(a, b);
    const auto result = lang::compute(instruction.alu, a, b, lang::is_wide(type) ? 8 : 4, lang::is_signed(type));
    if (!result)
        return std::nullopt;
    if (instruction.compares)
        return Operand{(*result != 0) != instruction.negated};
    return Operand{*result, type};
}

} // namespace argtrace
