// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "btf/prototype.h"
#include "uapi/probe.h"

namespace argtrace {

/// What the calling conventions have in common.
constexpr std::uint32_t WORD = 8; ///< bytes of a register and of a stack slot

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

constexpr std::uint32_t words_of(const Shape &shape) {
    return round_up(shape.bytes, WORD) / WORD;
}

/// The type code of a value of that shape; END if there is none.
std::uint8_t type_code(const Shape &shape);

/// Gives an argument that has its place its type and size; takes the place away again
/// if the module would refuse such a one.
void set_value(Argument &argument, const Shape &shape);

} // namespace argtrace
