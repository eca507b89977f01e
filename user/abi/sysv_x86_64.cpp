// SPDX-License-Identifier: GPL-2.0-only
#include "abi/calling_convention.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "abi/placement.h"
#include "model/type.h"

namespace argtrace {

namespace {

constexpr unsigned argument_registers = 6; // rdi rsi rdx rcx r8 r9
constexpr unsigned vector_registers = 8;
constexpr unsigned words_max = 2; // larger aggregates lie in memory
constexpr std::uint32_t return_address_size = word_size; // it lies below the stack arguments

bool is_classified(const Shape &shape) {
    return shape.words.front() != WordClass::unsaid;
}

bool has_word(const Shape &shape, WordClass wanted) {
    return std::ranges::find(shape.words, wanted) != shape.words.end();
}

// As a result; as an argument also what is of class x87.
bool in_memory(const Shape &shape) {
    if (is_classified(shape))
        return shape.words.front() == WordClass::memory;
    return shape.kind == Shape::Kind::aggregate &&
           (shape.bytes > words_max * word_size || shape.unaligned);
}

// Whether BTF tells enough to know what such a parameter leaves for those behind it.
bool is_placeable(const Shape &shape) {
    if (is_classified(shape))
        return true;
    switch (shape.kind) {
    case Shape::Kind::aggregate:
        return shape.bytes > words_max * word_size || !(shape.ambiguous || shape.has_float);
    case Shape::Kind::floating:
        return shape.bytes <= word_size; // more is long double, __float128 or complex
    default:
        return type_code(shape) != ARGTRACE_TYPE_END;
    }
}

struct State {
    unsigned registers = 0; // taken
    unsigned vectors = 0;
    std::uint32_t stack = 0; // bytes taken behind the return address
    bool is_stack_known = true;
    bool may_be_by_clang = false; // whose versions before 18 do not align __int128 on the stack

    bool operator==(const State &) const = default;
};

// A value lies in registers whole or not at all; one that does not fit leaves the rest of
// them to those behind it.
void place(State &state, const Shape &shape, std::uint32_t alignment, Argument &argument) {
    const std::uint32_t words = words_of(shape);
    if (words == 0)
        return;
    if (shape.kind == Shape::Kind::floating && state.vectors < vector_registers) {
        state.vectors++;
        return;
    }
    if (shape.kind != Shape::Kind::floating && !in_memory(shape) &&
        state.registers + words <= argument_registers) {
        argument.loc = words == 1 ? ARGTRACE_LOC_REG : ARGTRACE_LOC_REG_PAIR;
        argument.index = static_cast<std::uint8_t>(state.registers);
        state.registers += words;
        return;
    }
    if (state.may_be_by_clang && shape.kind != Shape::Kind::aggregate && state.stack % alignment != 0)
        state.is_stack_known = false;
    state.stack = round_up(state.stack, alignment);
    if (shape.kind != Shape::Kind::floating && state.is_stack_known) {
        argument.loc = ARGTRACE_LOC_STACK;
        argument.offset = return_address_size + state.stack;
    }
    state.stack += words * word_size;
}

std::uint32_t largest_alignment(std::uint32_t bytes) {
    return std::max(word_size, bytes & -bytes); // a size is a multiple of the alignment
}

// The same where the class of each word is known.
void place_classified(State &state, const Shape &shape, Argument &argument) {
    const auto count = [&shape](WordClass wanted) { return static_cast<unsigned>(std::ranges::count(shape.words, wanted)); };
    const unsigned integers = count(WordClass::integer), vectors = count(WordClass::vector);
    const bool is_in_memory = has_word(shape, WordClass::memory) || has_word(shape, WordClass::x87);
    if (integers + vectors == 0 && !is_in_memory)
        return; // an empty class of C++ is not passed at all
    if (is_in_memory || state.registers + integers > argument_registers ||
        state.vectors + vectors > vector_registers) {
        constexpr std::uint32_t x87_alignment = 16, complex_bytes = 32;
        const bool is_number = shape.kind == Shape::Kind::floating || (has_word(shape, WordClass::x87) && shape.bytes == complex_bytes);
        if (is_number && has_word(shape, WordClass::x87))
            state.stack = round_up(state.stack, x87_alignment);
        // It may be packed or aligned to more than its members ask for.
        state.is_stack_known = state.is_stack_known && state.stack % largest_alignment(shape.bytes) == 0;
        if (shape.kind == Shape::Kind::aggregate && state.is_stack_known) {
            argument.loc = ARGTRACE_LOC_STACK;
            argument.offset = return_address_size + state.stack;
        }
        state.stack += words_of(shape) * word_size;
        return;
    }
    if (integers == words_of(shape)) {
        argument.loc = integers == 1 ? ARGTRACE_LOC_REG : ARGTRACE_LOC_REG_PAIR;
        argument.index = static_cast<std::uint8_t>(state.registers);
    }
    state.registers += integers;
    state.vectors += vectors;
}

// Places a parameter; false if BTF leaves open where it or what follows lies.
bool place(State &state, const Shape &shape, Argument &argument) {
    if (!is_placeable(shape))
        return false;
    if (is_classified(shape)) {
        place_classified(state, shape, argument);
        return true;
    }
    if (shape.kind != Shape::Kind::aggregate) {
        place(state, shape, std::max(word_size, shape.bytes), argument);
        return true;
    }
    // An aggregate may be packed or aligned to more than its members ask for.
    State aligned_state = state;
    Argument aligned = argument;
    place(state, shape, word_size, argument);
    place(aligned_state, shape, largest_alignment(shape.bytes), aligned);
    return state == aligned_state && argument == aligned;
}

// The registers of an object, or of a number that takes more than half of one, of which each word is in one of its class; nothing if there is more than
// can be read.
std::optional<UserOperand> in_registers(const Shape &shape, unsigned integers, unsigned vectors) {
    const bool is_wide_number = shape.kind == Shape::Kind::floating && shape.bytes == words_max * word_size;
    if ((shape.kind != Shape::Kind::aggregate && !is_wide_number) || !is_classified(shape) || words_of(shape) == 0 || words_of(shape) > words_max)
        return std::nullopt;
    UserOperand operand{.kind = UserOperand::Kind::parts};
    for (std::uint32_t word = 0; word < words_of(shape); word++) {
        const std::uint32_t offset = word * word_size, bytes = std::min(word_size, shape.bytes - offset);
        switch (shape.words.at(word)) {
        case WordClass::integer:
            operand.parts.push_back({offset, bytes, false, static_cast<std::uint8_t>(integers++)});
            break;
        case WordClass::vector:
            add_vector(operand.parts, offset, bytes, vectors++);
            break;
        case WordClass::vector_more:
            operand.parts.push_back({offset, bytes, true, static_cast<std::uint8_t>(ARGTRACE_VECTOR_UPPER + vectors - 1)});
            break;
        default:
            return std::nullopt;
        }
    }
    return operand;
}

// 3.2.3, "Returning of Values": a long double is on top of the x87 unit's stack, also as the only member of a struct.
std::optional<UserOperand> in_x87(const Shape &result) {
    if (result.words.front() != WordClass::x87 || result.bytes != words_max * word_size)
        return std::nullopt;
    return UserOperand{.kind = UserOperand::Kind::parts,
                       .parts = {{0, word_size, true, ARGTRACE_VECTOR_X87}, {word_size, word_size, true, ARGTRACE_VECTOR_X87 + 1}}};
}

} // namespace

namespace {

State first_state(const Prototype &prototype) {
    State state;
    // A result in memory: the caller passes its address as a first, hidden argument.
    state.registers = in_memory(prototype.result_shape) ? 1 : 0;
    return state;
}

bool result_is_known(const Shape &result) {
    if (is_classified(result))
        return true;
    return result.kind != Shape::Kind::unknown &&
           !(result.kind == Shape::Kind::aggregate && !in_memory(result) && result.ambiguous);
}

} // namespace

std::vector<Argument> sysv_x86_64(const Prototype &prototype) {
    return place_all(prototype, first_state(prototype), result_is_known(prototype.result_shape),
                     place);
}

// What registers for floating-point numbers pass, be it in part, or the stack: the state tells that one was taken.
std::vector<std::optional<UserOperand>> sysv_x86_64_operands(const Prototype &prototype) {
    std::vector<std::optional<UserOperand>> operands;
    State state = first_state(prototype);
    state.may_be_by_clang = true;
    bool known = result_is_known(prototype.result_shape);
    for (const Parameter &parameter : prototype.parameters) {
        std::optional<UserOperand> &operand = operands.emplace_back();
        const State before = state;
        Argument argument;
        known = known && place(state, parameter.shape, argument);
        if (!known)
            continue;
        const bool is_number = parameter.shape.kind == Shape::Kind::floating;
        if (!is_read_by_program(parameter.shape))
            continue;
        if (is_number && parameter.shape.bytes <= word_size && state.vectors > before.vectors)
            operand = UserOperand{.kind = UserOperand::Kind::in_vector, .number = before.vectors};
        else if (state.stack > before.stack && state.is_stack_known && (is_number || argument.loc == ARGTRACE_LOC_STACK))
            operand = UserOperand{.kind = UserOperand::Kind::on_stack,
                                  .number = return_address_size + state.stack - words_of(parameter.shape) * word_size};
        else if (state.stack == before.stack && state.vectors > before.vectors)
            operand = in_registers(parameter.shape, before.registers, before.vectors);
    }
    return operands;
}

// 3.2.3: rax, and rdx behind it; of what is returned in memory, its address.
Returning sysv_x86_64_returning(const Prototype &prototype) {
    Returning returning;
    const Shape &result = prototype.result_shape;
    State state = first_state(prototype);
    bool known = result_is_known(result);
    for (const Parameter &parameter : prototype.parameters) {
        Argument argument;
        known = known && place(state, parameter.shape, argument);
        if (parameter.shape.kind == Shape::Kind::floating || parameter.shape.has_float)
            returning.why_not = "it takes floating-point numbers";
    }
    if (!known || !state.is_stack_known) {
        returning.why_not = "BTF leaves open what its arguments take on the stack";
        returning.by_kernel = ARGTRACE_BY_STACK;
    }
    if (prototype.variadic) {
        returning.why_not = "it takes a variable number of arguments";
        returning.by_kernel = ARGTRACE_BY_VARIADIC;
    }
    const bool in_vectors = !in_memory(result) && (result.kind == Shape::Kind::floating || result.has_float ||
                                                   has_word(result, WordClass::vector) || has_word(result, WordClass::x87));
    if (in_vectors) {
        returning.why_not = "it returns a floating-point number";
        returning.by_kernel = ARGTRACE_BY_CHOICE;
    }
    returning.stack_words = state.stack / word_size;
    returning.operand = has_word(result, WordClass::x87) ? in_x87(result) : in_registers(result, 0, 0);
    if (returning.operand)
        returning.operand->at_return = true;
    Argument &value = returning.value;
    value.name = "ret";
    value.type_name = prototype.result;
    if (prototype.is_result_left_out) {
        returning.operand.reset();
        returning.is_unread = true;
        return returning;
    }
    if (result.kind == Shape::Kind::floating && floating_type(result.bytes) != ARGTRACE_TYPE_END) { // in xmm0
        value.loc = ARGTRACE_LOC_RETURN;
        value.type = floating_type(result.bytes);
        value.size = result.bytes;
        return returning;
    }
    returning.is_unread = (in_vectors || !result_is_known(result)) && !returning.operand;
    if (in_vectors || !result_is_known(result))
        return returning;
    const bool is_empty = is_classified(result) && !in_memory(result) && !has_word(result, WordClass::integer);
    if (result.kind == Shape::Kind::nothing || words_of(result) == 0 || is_empty) // a struct may have no members
        return returning;
    value.loc = ARGTRACE_LOC_RETURN;
    returning.is_address = in_memory(result);
    if (returning.is_address) {
        value.type_name += " *";
        set_value(value, {.kind = Shape::Kind::pointer, .bytes = word_size});
    } else {
        set_value(value, result);
    }
    return returning;
}

std::string sysv_x86_64_location(const Argument &argument) {
    static constexpr std::string_view names[argument_registers] = {"rdi", "rsi", "rdx",
                                                                   "rcx", "r8",  "r9"};
    if (argument.loc == ARGTRACE_LOC_REG && argument.index < argument_registers)
        return std::string(names[argument.index]);
    if (argument.loc == ARGTRACE_LOC_REG_PAIR && argument.index + 1u < argument_registers)
        return fmt::format("{}:{}", names[argument.index], names[argument.index + 1]);
    if (argument.loc == ARGTRACE_LOC_RETURN)
        return type_info(argument.type).type_class == TypeClass::floating ? "xmm0" : argument.size > word_size ? "rax:rdx" : "rax";
    if (argument.loc == ARGTRACE_LOC_STACK)
        return fmt::format("sp+{}", argument.offset);
    return {};
}

// A.2.1
std::string syscall_location_x86_64(const Argument &argument) {
    constexpr unsigned fourth = 3; // `syscall` overwrites rcx
    return argument.loc == ARGTRACE_LOC_REG && argument.index == fourth ? "r10" : sysv_x86_64_location(argument);
}

// arch/x86/entry/entry_64_compat.S
std::string syscall_location_ia32(const Argument &argument) {
    static constexpr std::string_view names[argument_registers] = {"ebx", "ecx", "edx",
                                                                   "esi", "edi", "ebp"};
    if (argument.loc == ARGTRACE_LOC_REG && argument.index < argument_registers)
        return std::string(names[argument.index]);
    return sysv_x86_64_location(argument);
}

} // namespace argtrace
