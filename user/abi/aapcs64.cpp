// SPDX-License-Identifier: GPL-2.0-only
#include "abi/calling_convention.h"

#include <algorithm>

#include <fmt/format.h>

#include "abi/placement.h"
#include "model/type.h"

namespace argtrace {

namespace {

constexpr unsigned argument_registers = 8;     // x0 to x7; the address of a result goes in x8
constexpr unsigned vector_registers = 8;       // v0 to v7
constexpr unsigned words_max = 2;              // larger aggregates are passed by reference
constexpr std::uint32_t floats_bytes_max = 64; // of an aggregate in vector registers
// Each takes one or, a complex number, two of the eight vector registers, which BTF does not
// tell apart: so many surely lie there.
constexpr unsigned sure_floats = 4;

// Whether each of its members is in a vector register.
bool is_homogeneous(const Shape &shape) {
    return shape.homogeneous && shape.homogeneous->count > 0;
}

// Whether BTF leaves that open.
bool may_be_homogeneous(const Shape &shape) {
    return !shape.homogeneous && shape.has_float && shape.bytes <= floats_bytes_max;
}

bool by_reference(const Shape &shape) {
    return shape.kind == Shape::Kind::aggregate && shape.bytes > words_max * word_size && !is_homogeneous(shape);
}

// Whether a result surely lies in memory.
bool is_result_in_memory(const Shape &result) {
    return result.by_address || (by_reference(result) && !may_be_homogeneous(result));
}

// Whether BTF tells enough to know what such a parameter leaves for those behind it.
bool is_placeable(const Shape &shape) {
    switch (shape.kind) {
    case Shape::Kind::floating:
        return true;
    case Shape::Kind::aggregate:
        return !may_be_homogeneous(shape);
    default:
        return is_homogeneous(shape) || type_code(shape) != ARGTRACE_TYPE_END;
    }
}

struct State {
    unsigned registers = 0; // taken: the standard's NGRN
    unsigned floats = 0;    // the same of vector registers: its NSRN
    std::uint32_t stack = 0; // bytes taken above the stack pointer: its NSAA

    bool operator==(const State &) const = default;
};

void place(State &state, std::uint32_t words, std::uint32_t alignment, Argument &argument) {
    if (words == 0)
        return;
    if (alignment > word_size)
        state.registers = round_up(state.registers, 2);
    if (state.registers + words <= argument_registers) {
        argument.loc = words == 1 ? ARGTRACE_LOC_REG : ARGTRACE_LOC_REG_PAIR;
        argument.index = static_cast<std::uint8_t>(state.registers);
        state.registers += words;
        return;
    }
    // What does not fit closes the registers to all behind it.
    state.registers = argument_registers;
    state.stack = round_up(state.stack, alignment);
    argument.loc = ARGTRACE_LOC_STACK;
    argument.offset = state.stack;
    state.stack += words * word_size;
}

// All of its members are in registers, or none.
void place_homogeneous(State &state, const Shape &shape, Argument &argument) {
    const auto [count, bytes] = *shape.homogeneous;
    if (state.floats + count <= vector_registers) {
        state.floats += count;
        return;
    }
    state.floats = vector_registers;
    state.stack = round_up(state.stack, std::max<std::uint32_t>(word_size, bytes));
    if (shape.kind == Shape::Kind::aggregate) {
        argument.loc = ARGTRACE_LOC_STACK;
        argument.offset = state.stack;
    }
    state.stack += words_of(shape) * word_size;
}

// Places a parameter; false if BTF leaves open where it or what follows lies.
bool place(State &state, const Shape &shape, Argument &argument) {
    if (!is_placeable(shape))
        return false;
    if (is_homogeneous(shape)) {
        place_homogeneous(state, shape, argument);
        return true;
    }
    if (shape.kind == Shape::Kind::floating)
        return ++state.floats <= sure_floats;
    if (by_reference(shape)) {
        place(state, 1, word_size, argument);
        if (argument.loc == ARGTRACE_LOC_STACK)
            argument.index = ref_on_stack;
        argument.loc = ARGTRACE_LOC_REF;
        return true;
    }
    const std::uint32_t natural = std::max(word_size, shape.bytes);
    if (shape.kind != Shape::Kind::aggregate || natural == word_size) {
        place(state, words_of(shape), natural, argument);
        return true;
    }
    if (shape.is_word_aligned) {
        place(state, words_of(shape), word_size, argument);
        return true;
    }
    // A member may be packed or aligned to more than its type asks for.
    State aligned_state = state;
    Argument aligned = argument;
    place(state, words_of(shape), word_size, argument);
    if (shape.bytes % (2 * word_size) != 0)
        return true;
    place(aligned_state, words_of(shape), 2 * word_size, aligned);
    return state == aligned_state && argument == aligned;
}

// The registers of an aggregate, each of which has one of its members, or that of a number of 16 bytes.
std::optional<UserOperand> in_vectors(const Shape &shape, unsigned first) {
    const auto [count, bytes] = *shape.homogeneous;
    UserOperand operand{.kind = UserOperand::Kind::parts};
    for (std::uint32_t i = 0; i < count; i++)
        add_vector(operand.parts, i * bytes, bytes, first + i);
    return operand;
}

bool is_readable_number(const Shape &shape) {
    return shape.kind == Shape::Kind::floating && floating_type(shape.bytes) != ARGTRACE_TYPE_END;
}

// What vector registers pass, or memory, by what has been taken.
std::optional<UserOperand> operand_of(const Shape &shape, const Argument &argument, const State &before, const State &state) {
    if (argument.loc == ARGTRACE_LOC_REF)
        return argument.index == ref_on_stack ? std::nullopt
                                              : std::optional(UserOperand{.kind = UserOperand::Kind::memory, .base = NamedRegister{.index = argument.index}});
    if (state.stack > before.stack && (is_readable_number(shape) || argument.loc == ARGTRACE_LOC_STACK))
        return UserOperand{.kind = UserOperand::Kind::on_stack, .number = state.stack - words_of(shape) * word_size};
    if (state.stack > before.stack || state.floats == before.floats)
        return std::nullopt;
    if (is_readable_number(shape))
        return UserOperand{.kind = UserOperand::Kind::in_vector, .number = before.floats};
    return in_vectors(shape, before.floats);
}

} // namespace

std::vector<Argument> aapcs64(const Prototype &prototype) {
    State state;
    const bool known = true; // whatever the result: its address has a register of its own

    return place_all(prototype, state, known, place);
}

std::string aapcs64_location(const Argument &argument) {
    switch (argument.loc) {
    case ARGTRACE_LOC_REG:
        return fmt::format("x{}", argument.index);
    case ARGTRACE_LOC_REG_PAIR:
        return fmt::format("x{}:x{}", argument.index, argument.index + 1);
    case ARGTRACE_LOC_STACK:
        return fmt::format("sp+{}", argument.offset);
    case ARGTRACE_LOC_RETURN:
        if (type_info(argument.type).type_class == TypeClass::floating)
            return argument.size == word_size ? "d0" : "s0";
        return argument.size > word_size ? "x0:x1" : "x0";
    case ARGTRACE_LOC_REF:
        return argument.index == ref_on_stack ? fmt::format("[sp+{}]", argument.offset)
                                              : fmt::format("[x{}]", argument.index);
    default:
        return {};
    }
}

namespace {

// In x0, and x1 behind it, of a struct of which more is known than BTF says.
std::optional<UserOperand> in_general_registers(const Shape &result) {
    if (!result.homogeneous || result.kind != Shape::Kind::aggregate || is_result_in_memory(result))
        return std::nullopt;
    UserOperand operand{.kind = UserOperand::Kind::parts, .at_return = true};
    for (std::uint32_t word = 0; word < words_of(result); word++)
        operand.parts.push_back({word * word_size, std::min(word_size, result.bytes - word * word_size), false, static_cast<std::uint8_t>(word)});
    return operand;
}

// In v0, or as many registers from there on as it has members.
void set_vector_result(Returning &returning, const Shape &result) {
    if (is_readable_number(result)) {
        returning.value.loc = ARGTRACE_LOC_RETURN;
        returning.value.type = floating_type(result.bytes);
        returning.value.size = result.bytes;
        return;
    }
    returning.operand = in_vectors(result, 0);
    if (returning.operand)
        returning.operand->at_return = true;
}

} // namespace

Returning aapcs64_returning(const Prototype &prototype) {
    Returning returning;
    const Shape &result = prototype.result_shape;
    State state;
    bool known = true;
    for (const Parameter &parameter : prototype.parameters) {
        Argument argument;
        known = known && place(state, parameter.shape, argument);
        if (parameter.shape.kind == Shape::Kind::floating || parameter.shape.has_float)
            returning.why_not = "it takes floating-point numbers";
    }
    if (!known) {
        returning.why_not = "BTF leaves open what its arguments take on the stack";
        returning.by_kernel = ARGTRACE_BY_STACK;
    }
    if (prototype.variadic) {
        returning.why_not = "it takes a variable number of arguments";
        returning.by_kernel = ARGTRACE_BY_VARIADIC;
    }
    returning.stack_words = state.stack / word_size;
    Argument &value = returning.value;
    value.name = "ret";
    value.type_name = prototype.result;
    if (prototype.is_result_left_out) {
        returning.operand.reset();
        returning.is_unread = true;
        return returning;
    }
    returning.in_memory = is_result_in_memory(result);
    returning.is_address = returning.in_memory;
    if (!returning.in_memory && (result.kind == Shape::Kind::floating || is_homogeneous(result) || may_be_homogeneous(result))) {
        returning.why_not = "it returns a floating-point number";
        returning.by_kernel = ARGTRACE_BY_CHOICE;
        if (is_homogeneous(result))
            set_vector_result(returning, result);
        returning.is_unread = value.loc == ARGTRACE_LOC_NONE && !returning.operand;
        return returning;
    }
    if (!returning.in_memory && (result.kind == Shape::Kind::nothing || words_of(result) == 0))
        return returning;
    returning.operand = in_general_registers(result);
    value.loc = ARGTRACE_LOC_RETURN;
    if (returning.in_memory) { // at the address in x8, which the module keeps
        value.type_name += " *";
        set_value(value, {.kind = Shape::Kind::pointer, .bytes = word_size});
    } else {
        set_value(value, result);
    }
    return returning;
}

std::vector<std::optional<UserOperand>> aapcs64_operands(const Prototype &prototype) {
    std::vector<std::optional<UserOperand>> operands;
    State state;
    bool known = true;
    for (const Parameter &parameter : prototype.parameters) {
        std::optional<UserOperand> &operand = operands.emplace_back();
        const State before = state;
        Argument argument;
        known = known && place(state, parameter.shape, argument);
        if (known && is_read_by_program(parameter.shape))
            operand = operand_of(parameter.shape, argument, before, state);
    }
    return operands;
}

} // namespace argtrace
