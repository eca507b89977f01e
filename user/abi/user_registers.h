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

/// The registers of user code of one architecture.
struct UserRegisters {
    /// By a name, without '%': "rax", "eax", "ax", "al", "ah", "r8d", "rip"; "x0", "w0", "sp". Nothing if it is no such register.
    std::optional<NamedRegister> (*by_name)(std::string_view name);
    /// The whole register with that number in DWARF: x86-64 psABI, figure 3.36; AADWARF64, 4.1.
    std::optional<NamedRegister> (*by_dwarf)(unsigned number);
    /// The number of a register for floating-point numbers that the module reads, "xmm0".
    std::optional<std::uint8_t> (*vector_by_name)(std::string_view name);
    std::optional<std::uint8_t> (*vector_by_dwarf)(unsigned number);
    std::string_view names;   ///< as a sentence lists them
    std::string_view example; ///< one of them
    NamedRegister stack_pointer;
    NamedRegister instruction_pointer;
    NamedRegister goroutine; ///< of which Go's functions have the address
};

extern const UserRegisters user_registers_x86_64, user_registers_aarch64;

/// Those of the machine that we run on, whose processes are traced.
const UserRegisters &native_user_registers();

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
    std::vector<RegisterPart> parts = {};

    bool operator==(const UserOperand &) const = default;
};

} // namespace argtrace
