// SPDX-License-Identifier: GPL-2.0-only
#include "abi/placement.h"

#include "abi/calling_convention.h"
#include "model/type.h"

namespace argtrace {

std::uint8_t type_code(const Shape &shape) {
    switch (shape.kind) {
    case Shape::Kind::pointer:
        return ARGTRACE_TYPE_PTR;
    case Shape::Kind::enumeration:
        return integer_type(shape.bytes, shape.is_signed);
    case Shape::Kind::integer:
        if (shape.is_bool && shape.bytes == 1)
            return ARGTRACE_TYPE_BOOL;
        if (shape.is_char)
            return shape.is_signed ? ARGTRACE_TYPE_CHAR : ARGTRACE_TYPE_UCHAR;
        return integer_type(shape.bytes, shape.is_signed);
    case Shape::Kind::aggregate:
        return ARGTRACE_TYPE_BYTES;
    case Shape::Kind::nothing:
    case Shape::Kind::floating:
    case Shape::Kind::unknown:
        break;
    }
    return ARGTRACE_TYPE_END;
}

bool is_read_by_program(const Shape &shape) {
    if (shape.kind == Shape::Kind::floating)
        return floating_type(shape.bytes) != ARGTRACE_TYPE_END || (shape.bytes == 2 * word_size && (shape.words.front() != WordClass::unsaid || shape.homogeneous));
    if (shape.kind == Shape::Kind::aggregate)
        return shape.bytes <= ARGTRACE_BYTES_MAX;
    return shape.bytes <= 2 * word_size && type_code(shape) != ARGTRACE_TYPE_END;
}

void set_value(Argument &argument, const Shape &shape) {
    const bool on_stack = argument.loc == ARGTRACE_LOC_STACK;
    if (argument.loc == ARGTRACE_LOC_NONE || shape.bytes > ARGTRACE_BYTES_MAX ||
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
    const std::uint32_t length = type_info(argument.type).size == 0 ? sizeof(std::uint16_t) : 0;
    return length + argument.size;
}

std::uint32_t record_bytes(std::span<const Argument> arguments, bool returns) {
    std::uint32_t bytes = sizeof(argtrace_record) + sizeof(std::uint64_t); // and the caller
    if (returns)
        bytes += sizeof(std::uint64_t); // the duration
    bool computed = false;
    for (const Argument &argument : arguments) {
        bytes += captured_bytes(argument);
        computed = computed || argument.loc == ARGTRACE_LOC_PROGRAM;
    }
    if (computed)
        bytes += sizeof(std::uint64_t); // which values are unreadable
    return round_up(bytes, 8);
}

} // namespace argtrace
