// SPDX-License-Identifier: GPL-2.0-only
#include "abi/calling_convention.h"

namespace argtrace {

namespace {

constexpr unsigned REGISTERS = 6; // rdi rsi rdx rcx r8 r9
constexpr unsigned WORD = 8;      // an "eightbyte"
constexpr unsigned MAX_WORDS = 2; // larger aggregates lie in memory

bool in_memory(const Shape &shape) {
    return shape.kind == Shape::Kind::Aggregate &&
           (shape.bytes > MAX_WORDS * WORD || shape.unaligned);
}

// How a value is passed when its class is INTEGER: in how many registers. 0: in none,
// be it that it lies on the stack, in a vector register, or nowhere (an empty struct).
unsigned registers_for(const Shape &shape) {
    switch (shape.kind) {
    case Shape::Kind::Pointer:
    case Shape::Kind::Integer:
    case Shape::Kind::Enum:
    case Shape::Kind::Aggregate:
        return in_memory(shape) ? 0 : (shape.bytes + WORD - 1) / WORD;
    case Shape::Kind::Void:
    case Shape::Kind::Float:
    case Shape::Kind::Unknown:
        break;
    }
    return 0;
}

// Whether BTF tells enough to know what such a parameter leaves for those behind it.
bool is_placeable(const Shape &shape) {
    return shape.kind != Shape::Kind::Unknown && shape.kind != Shape::Kind::Void &&
           !(shape.has_float && !in_memory(shape));
}

std::uint8_t integer_type(std::uint32_t bytes, bool is_signed) {
    switch (bytes) {
    case 1:
        return is_signed ? ARGTRACE_TYPE_S8 : ARGTRACE_TYPE_U8;
    case 2:
        return is_signed ? ARGTRACE_TYPE_S16 : ARGTRACE_TYPE_U16;
    case 4:
        return is_signed ? ARGTRACE_TYPE_S32 : ARGTRACE_TYPE_U32;
    case 8:
        return is_signed ? ARGTRACE_TYPE_S64 : ARGTRACE_TYPE_U64;
    default:
        return ARGTRACE_TYPE_END;
    }
}

// The type code of a value in one register; END if this version records no such value.
std::uint8_t scalar_type(const Shape &shape) {
    switch (shape.kind) {
    case Shape::Kind::Pointer:
        return ARGTRACE_TYPE_PTR;
    case Shape::Kind::Enum:
        return integer_type(shape.bytes, shape.is_signed);
    case Shape::Kind::Integer:
        if (shape.is_bool && shape.bytes == 1)
            return ARGTRACE_TYPE_BOOL;
        if (shape.is_char)
            return shape.is_signed ? ARGTRACE_TYPE_CHAR : ARGTRACE_TYPE_UCHAR;
        return integer_type(shape.bytes, shape.is_signed);
    default:
        return ARGTRACE_TYPE_END;
    }
}

} // namespace

std::vector<Argument> sysv_x86_64(const Prototype &prototype) {
    std::vector<Argument> arguments;
    // A result in memory: the caller passes its address as a first, hidden argument.
    unsigned next = in_memory(prototype.result_shape) ? 1 : 0;
    bool known = true;

    for (const Parameter &parameter : prototype.parameters) {
        Argument argument;
        argument.name = parameter.name;
        argument.type_name = parameter.type;

        // A value lies in registers whole or not at all; one that does not fit leaves the
        // rest of them to those behind it.
        known = known && is_placeable(parameter.shape);
        const unsigned needed = registers_for(parameter.shape);
        if (known && needed > 0 && next + needed <= REGISTERS) {
            const std::uint8_t type = scalar_type(parameter.shape);
            if (needed == 1 && type != ARGTRACE_TYPE_END) {
                argument.loc = ARGTRACE_LOC_REG;
                argument.index = static_cast<std::uint8_t>(next);
                argument.type = type;
                argument.size = parameter.shape.bytes;
            }
            next += needed;
        }
        arguments.push_back(std::move(argument));
    }
    return arguments;
}

std::string_view sysv_x86_64_location(const Argument &argument) {
    static constexpr std::string_view names[REGISTERS] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};
    const bool in_register = argument.loc == ARGTRACE_LOC_REG && argument.index < REGISTERS;
    return in_register ? names[argument.index] : "not recorded";
}

} // namespace argtrace
