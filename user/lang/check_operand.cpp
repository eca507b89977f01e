// SPDX-License-Identifier: GPL-2.0-only
// Registers of user code, and what a USDT probe says of where its arguments are.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lang/arithmetic.h"
#include "lang/checker.h"

namespace argtrace::lang {

namespace {

Type integer_of(unsigned bytes, bool is_signed) {
    using Basic = Type::Basic;
    switch (bytes) {
    case 1:
        return Type::of(is_signed ? Basic::schar : Basic::uchar);
    case 2:
        return Type::of(is_signed ? Basic::short_ : Basic::ushort);
    case 4:
        return is_signed ? int_type : uint_type;
    default:
        return is_signed ? long_type : ulong_type;
    }
}

} // namespace

// A register, or the part of it that its name means.
NodePtr Checker::register_value(const NamedRegister &known, Type type, const Ast &ast, bool at_return) const {
    NodePtr whole = make_source(at_return ? ARGTRACE_SOURCE_RESULT : ARGTRACE_SOURCE_REG, known.index, ulong_type, ast);
    if (known.bytes == 8 && type == ulong_type)
        return whole;
    NodePtr part = make_node(Node::Kind::extract, type, ast, std::move(whole));
    part->value = known.shift;
    return part;
}

// The file says it, not the user: none of it ever leads to the kernel's memory.
NodePtr Checker::operand(const UserOperand &operand, Type type, const Ast &ast) const {
    const TypeTraits known = types_.traits(type);
    switch (operand.kind) {
    case UserOperand::Kind::constant: {
        NodePtr number = make_constant(static_cast<std::uint64_t>(operand.number), void_pointer.in(Space::user), ast);
        return make_node(Node::Kind::convert, type, ast, std::move(number));
    }
    case UserOperand::Kind::in_register: {
        if (operand.base->bytes >= known.bytes)
            return register_value(*operand.base, type, ast, operand.at_return);
        return convert(register_value(*operand.base, integer_of(operand.base->bytes, known.is_signed), ast), type);
    }
    case UserOperand::Kind::in_vector: {
        const auto number = static_cast<std::uint8_t>(operand.number);
        NodePtr whole = operand.at_return ? make_source(ARGTRACE_SOURCE_RETURN, static_cast<std::uint8_t>(ARGTRACE_RETURN_VECTOR + number), ulong_type, ast)
                                          : make_source(ARGTRACE_SOURCE_VECTOR, number, ulong_type, ast);
        return make_node(Node::Kind::extract, type, ast, std::move(whole));
    }
    case UserOperand::Kind::on_stack: {
        // A goroutine's stack may be another one when the function returns.
        NodePtr top = operand.at_return ? make_source(ARGTRACE_SOURCE_RESULT, native_user_registers().stack_pointer.index, void_pointer.in(Space::user), ast)
                                        : make_source(ARGTRACE_SOURCE_STACK, 0, void_pointer.in(Space::user), ast);
        return lvalue(make_offset(std::move(top), static_cast<std::uint64_t>(operand.number), type.pointer().in(Space::user), ast), type, ast);
    }
    case UserOperand::Kind::parts: {
        NodePtr node = make_node(Node::Kind::register_object, type, ast);
        node->parts = std::make_shared<const std::vector<RegisterPart>>(operand.parts);
        node->at_return = operand.at_return;
        return node;
    }
    case UserOperand::Kind::memory:
    case UserOperand::Kind::sum:
        break;
    }
    const bool is_sum = operand.kind == UserOperand::Kind::sum;
    const Type pointer = is_sum ? void_pointer.in(Space::user) : type.pointer().in(Space::user);
    NodePtr sum = operand.base ? register_value(*operand.base, ulong_type, ast) : nullptr;
    if (operand.index) {
        NodePtr scaled = register_value(*operand.index, ulong_type, ast);
        if (operand.scale > 1)
            scaled = arithmetic(ARGTRACE_ALU_MUL, std::move(scaled), make_constant(operand.scale, ulong_type, ast), ast);
        sum = sum ? arithmetic(ARGTRACE_ALU_ADD, std::move(sum), std::move(scaled), ast) : std::move(scaled);
    }
    const auto number = static_cast<std::uint64_t>(operand.number);
    if (is_sum)
        return make_node(Node::Kind::convert, type, ast, make_offset(convert(std::move(sum), pointer), number, pointer, ast));
    if (!sum)
        return lvalue(make_constant(number, pointer, ast), type, ast);
    return lvalue(make_offset(convert(std::move(sum), pointer), number, pointer, ast), type, ast);
}

// All of a register that has a part of an object.
NodePtr Checker::part_source(const RegisterPart &part, bool at_return, const Ast &ast) const {
    const auto number = static_cast<std::uint8_t>(ARGTRACE_RETURN_VECTOR + part.index);
    if (part.is_floating)
        return at_return ? make_source(ARGTRACE_SOURCE_RETURN, number, ulong_type, ast) : make_source(ARGTRACE_SOURCE_VECTOR, part.index, ulong_type, ast);
    const argtrace_insn_source returned = is_go() ? ARGTRACE_SOURCE_RESULT : ARGTRACE_SOURCE_RETURN;
    return make_source(at_return ? returned : ARGTRACE_SOURCE_REG, part.index, ulong_type, ast);
}

// What begins at that bit of an object in registers: `bits` of it, or all if they are 0.
NodePtr Checker::part_of(const Node &aggregate, std::uint64_t bit, std::uint32_t bits, Type type, const Ast &ast) const {
    const TypeTraits known = types_.traits(type);
    const std::uint64_t end = bit + (bits ? bits : 8 * known.bytes);
    const auto part = std::ranges::find_if(*aggregate.parts, [&](const RegisterPart &one) { return 8 * one.offset <= bit && end <= 8 * (one.offset + one.bytes); });
    if (part == aggregate.parts->end())
        fail(ast.at, fmt::format("where {} is cannot be told", written(ast)));
    NodePtr node = make_node(Node::Kind::extract, type, ast, part_source(*part, aggregate.at_return, ast));
    node->value = bit - 8 * part->offset;
    node->bits = bits;
    return node;
}

// A word of an object in registers, whose bytes may be in several.
NodePtr Checker::word_of(const Node &aggregate, std::uint64_t begin, std::uint64_t size, const Ast &ast) const {
    NodePtr word;
    std::uint64_t covered = 0;
    for (const RegisterPart &part : *aggregate.parts) {
        if (part.offset + part.bytes <= begin || part.offset >= begin + size)
            continue;
        if (part.offset < begin)
            return nullptr;
        NodePtr bytes = part_source(part, aggregate.at_return, ast);
        if (part.bytes < 8) {
            bytes = make_node(Node::Kind::extract, ulong_type, ast, std::move(bytes));
            bytes->bits = 8 * part.bytes;
            bytes = convert(std::move(bytes), ulong_type);
        }
        if (part.offset > begin)
            bytes = arithmetic(ARGTRACE_ALU_SHL, std::move(bytes), make_constant(8 * (part.offset - begin), ulong_type, ast), ast);
        word = word ? arithmetic(ARGTRACE_ALU_OR, std::move(word), std::move(bytes), ast) : std::move(bytes);
        covered += part.bytes;
    }
    return covered >= size ? std::move(word) : nullptr;
}

// All of an object in registers, as it would be in memory. Null: it is in too many, or not whole.
NodePtr Checker::whole_object(const Node &aggregate, const Ast &ast) const {
    constexpr std::uint64_t word_bytes = 8;
    const std::uint64_t bytes = traits(aggregate).bytes;
    if (!aggregate.parts || aggregate.value != 0 || bytes == 0 || bytes > ARGTRACE_WORDS_MAX)
        return nullptr;
    NodePtr whole = make_node(Node::Kind::words, aggregate.type, ast);
    for (std::uint64_t begin = 0; begin < bytes; begin += word_bytes) {
        NodePtr word = word_of(aggregate, begin, std::min(word_bytes, bytes - begin), ast);
        if (!word)
            return nullptr;
        whole->operands.push_back(std::move(word));
    }
    return whole;
}

// reg("r12")
NodePtr Checker::call_reg(const Ast &ast) const {
    const UserRegisters &registers = native_user_registers();
    require_operands(ast, 1, 1, "reg(\"NAME\")");
    const Ast &name = *ast.operands[0];
    if (scope_.kind().number != ARGTRACE_KIND_USER)
        fail(ast.at, fmt::format("registers are read of user functions and USDT probes, and {} is a {}", scope_.function(), scope_.kind().noun));
    if (name.kind != Ast::Kind::string)
        fail(name.at, fmt::format("the name of a register is in quotes: reg(\"{}\")", registers.example));
    if (const auto vector = registers.vector_by_name(name.token.text))
        return operand({.kind = UserOperand::Kind::in_vector, .number = *vector}, double_type, ast);
    const std::optional<NamedRegister> found = registers.by_name(name.token.text);
    if (!found)
        fail(name.at, fmt::format("there is no register {}; there are {}", name.token.text, registers.names));
    return register_value(*found, integer_of(found->bytes, false), ast);
}

} // namespace argtrace::lang
