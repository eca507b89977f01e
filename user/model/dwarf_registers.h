// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace argtrace {

/// What an architecture's supplement to DWARF says of places in which arguments are passed.
struct DwarfRegisters {
    std::span<const std::uint8_t> arguments; ///< the numbers of the registers that pass them, in order
    unsigned first_vector;                   ///< of those for floating-point numbers, which follow each other
    unsigned vectors;                        ///< how many there are
    std::int64_t frame_above_stack;          ///< bytes from the stack pointer at a function's entry to the canonical frame address

    /// Which of those for floating-point numbers it is; nothing: another register.
    std::optional<std::uint8_t> vector(unsigned number) const {
        if (number < first_vector || number >= first_vector + vectors)
            return std::nullopt;
        return static_cast<std::uint8_t>(number - first_vector);
    }
};

} // namespace argtrace
