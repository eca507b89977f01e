// SPDX-License-Identifier: GPL-2.0-only
#include "abi/calling_convention.h"

#include <algorithm>

#include <fmt/format.h>

#include "abi/placement.h"

namespace argtrace {

namespace {

constexpr unsigned argument_registers = 8;     // x0 to x7; the address of a result goes in x8
constexpr unsigned words_max = 2;              // larger aggregates are passed by reference
constexpr std::uint32_t floats_bytes_max = 64; // of an aggregate in vector registers
// Each takes one or, a complex number, two of the eight vector registers, which BTF does not
// tell apart: so many surely lie there.
constexpr unsigned sure_floats = 4;

bool by_reference(const Shape &shape) {
    return shape.kind == Shape::Kind::aggregate && shape.bytes > words_max * word_size;
}

// Whether a result surely lies in memory. One of floating-point numbers may have up to four vector registers, if they are all alike.
bool is_result_in_memory(const Shape &result) {
    return result.by_address || (by_reference(result) && (!result.has_float || result.bytes > floats_bytes_max));
}

// Whether BTF tells enough to know what such a parameter leaves for those behind it.
bool is_placeable(const Shape &shape) {
    switch (shape.kind) {
    case Shape::Kind::floating:
        return true;
    case Shape::Kind::aggregate:
        return !shape.has_float || shape.bytes > floats_bytes_max;
    default:
        return type_code(shape) != ARGTRACE_TYPE_END;
    }
}

struct State {
    unsigned registers = 0; // taken: the standard's NGRN
    unsigned floats = 0;
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

// Places a parameter; false if BTF leaves open where it or what follows lies.
bool place(State &state, const Shape &shape, Argument &argument) {
    if (!is_placeable(shape))
        return false;
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
    // A member may be packed or aligned to more than its type asks for.
    State aligned_state = state;
    Argument aligned = argument;
    place(state, words_of(shape), word_size, argument);
    if (shape.bytes % (2 * word_size) != 0)
        return true;
    place(aligned_state, words_of(shape), 2 * word_size, aligned);
    return state == aligned_state && argument == aligned;
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
        return argument.size > word_size ? "x0:x1" : "x0";
    case ARGTRACE_LOC_REF:
        return argument.index == ref_on_stack ? fmt::format("[sp+{}]", argument.offset)
                                              : fmt::format("[x{}]", argument.index);
    default:
        return {};
    }
}

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
    returning.in_memory = is_result_in_memory(result);
    if (result.kind == Shape::Kind::floating || (result.has_float && !returning.in_memory)) {
        returning.why_not = "it returns a floating-point number";
        returning.by_kernel = ARGTRACE_BY_CHOICE;
        return returning;
    }
    if (!returning.in_memory && (result.kind == Shape::Kind::nothing || words_of(result) == 0))
        return returning;
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
    return std::vector<std::optional<UserOperand>>(prototype.parameters.size());
}

} // namespace argtrace
