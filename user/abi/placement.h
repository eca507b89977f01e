// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "btf/prototype.h"
#include "model/probe.h"

namespace argtrace {

/// What the calling conventions have in common.
constexpr std::uint32_t word_size = 8; ///< bytes of a register and of a stack slot

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

constexpr std::uint32_t words_of(const Shape &shape) {
    return round_up(shape.bytes, word_size) / word_size;
}

/// The type code of a value of that shape; ARGTRACE_TYPE_END if there is none.
std::uint8_t type_code(const Shape &shape);

/// Whether a program can record such a value out of memory, as one.
bool is_read_by_program(const Shape &shape);

/// Gives an argument that has its place its type and size; takes the place away again
/// if the module would refuse such a one.
void set_value(Argument &argument, const Shape &shape);

/// The arguments of a prototype, each placed by `place(state, shape, argument)`. Behind the
/// first whose place it cannot tell (false), and where none is `known` from the start, none
/// has a place.
template <typename State>
std::vector<Argument> place_all(const Prototype &prototype, State state, bool known,
                                bool (*place)(State &, const Shape &, Argument &)) {
    std::vector<Argument> arguments;
    for (const Parameter &parameter : prototype.parameters) {
        Argument argument;
        argument.name = parameter.name;
        argument.type_name = parameter.type;
        Argument placed = argument;
        known = known && place(state, parameter.shape, placed);
        if (known) {
            set_value(placed, parameter.shape);
            argument = std::move(placed);
        }
        arguments.push_back(std::move(argument));
    }
    return arguments;
}

} // namespace argtrace
