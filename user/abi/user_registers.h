// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "btf/prototype.h"

namespace argtrace {

/// A register of user code by one of its names, or a part of one.
struct NamedRegister {
    std::uint8_t index = 0; ///< of ARGTRACE_SOURCE_REG
    std::uint8_t bytes = 8; ///< that the name means
    std::uint8_t shift = 0; ///< in bits, from where: 8 of "ah"

    bool operator==(const NamedRegister &) const = default;
};

/// "rax", "eax", "ax", "al", "ah", "r8d", "rip" of x86-64, without '%'; nothing if it is no such register.
std::optional<NamedRegister> find_user_register(std::string_view name);

/// The whole register with that number in DWARF (x86-64 psABI, figure 3.36).
std::optional<NamedRegister> find_user_register(unsigned dwarf_number);

/// The number of a register for floating-point numbers, "xmm0"; nothing if it is no such register.
std::optional<std::uint8_t> find_user_vector(std::string_view name);
std::optional<std::uint8_t> find_user_vector(unsigned dwarf_number);

/// Where user code has a value: a number, a register, a register for floating-point numbers, whose number is `number`, memory of the process at
/// `base` + `index` * `scale` + `number`, or at `number` bytes above the stack pointer that a function was entered with.
struct UserOperand {
    enum class Kind : std::uint8_t {
        constant,
        in_register,
        memory,
        in_vector,
        on_stack,
        parts, ///< in the registers that `parts` says
        sum,   ///< it is the address that `memory` would be read at
    };

    Kind kind = Kind::constant;
    std::int64_t number = 0;
    std::optional<NamedRegister> base = {}; ///< the register itself, if it is in one
    std::optional<NamedRegister> index = {};
    std::uint8_t scale = 1; ///< 1, 2, 4 or 8
    bool at_return = false; ///< there when a function of Go has returned
    std::vector<GoPart> parts = {};

    bool operator==(const UserOperand &) const = default;
};

} // namespace argtrace
