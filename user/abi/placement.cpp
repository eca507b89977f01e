// SPDX-License-Identifier: GPL-2.0-only
#include "abi/placement.h"

#include "abi/calling_convention.h"

namespace argtrace {

namespace {

constexpr std::uint32_t MAX_BYTES = 1024; // of one argument

std::uint8_t integer_code(std::uint32_t bytes, bool is_signed) {
    switch (bytes) {
    case 1:
        return is_signed ? ARGTRACE_TYPE_S8 : ARGTRACE_TYPE_U8;
    case 2:
        return is_signed ? ARGTRACE_TYPE_S16 : ARGTRACE_TYPE_U16;
    case 4:
        return is_signed ? ARGTRACE_TYPE_S32 : ARGTRACE_TYPE_U32;
    case 8:
        return is_signed ? ARGTRACE_TYPE_S64 : ARGTRACE_TYPE_U64;
    case 16:
        return is_signed ? ARGTRACE_TYPE_S128 : ARGTRACE_TYPE_U128;
    default:
        return ARGTRACE_TYPE_END;
    }
}

} // namespace

std::uint8_t type_code(const Shape &shape) {
    switch (shape.kind) {
    case Shape::Kind::Pointer:
        return ARGTRACE_TYPE_PTR;
    case Shape::Kind::Enum:
        return integer_code(shape.bytes, shape.is_signed);
    case Shape::Kind::Integer:
        if (shape.is_bool && shape.bytes == 1)
            return ARGTRACE_TYPE_BOOL;
        if (shape.is_char)
            return shape.is_signed ? ARGTRACE_TYPE_CHAR : ARGTRACE_TYPE_UCHAR;
        return integer_code(shape.bytes, shape.is_signed);
    case Shape::Kind::Aggregate:
        return ARGTRACE_TYPE_BYTES;
    case Shape::Kind::Void:
    case Shape::Kind::Float:
    case Shape::Kind::Unknown:
        break;
    }
    return ARGTRACE_TYPE_END;
}

void set_value(Argument &argument, const Shape &shape) {
    const bool on_stack = argument.loc == ARGTRACE_LOC_STACK;
    if (argument.loc == ARGTRACE_LOC_NONE || shape.bytes > MAX_BYTES ||
        (on_stack && std::uint64_t(argument.offset) + shape.bytes > ARGTRACE_STACK_MAX)) {
        argument.loc = ARGTRACE_LOC_NONE;
        argument.index = 0;
        argument.offset = 0;
        return;
    }
    argument.type = type_code(shape);
    argument.size = shape.bytes;
}

std::uint32_t captured_bytes(const Argument &argument) {
    if (argument.loc == ARGTRACE_LOC_NONE)
        return 0;
    const std::uint32_t length = argument.type == ARGTRACE_TYPE_BYTES ? sizeof(std::uint16_t) : 0;
    return length + argument.size;
}

std::uint32_t record_bytes(std::span<const Argument> arguments) {
    std::uint32_t bytes = sizeof(argtrace_record) + sizeof(std::uint64_t); // and the caller
    for (const Argument &argument : arguments)
        bytes += captured_bytes(argument);
    return round_up(bytes, 8);
}

} // namespace argtrace
