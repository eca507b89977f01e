// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "btf/prototype.h"
#include "model/dwarf_registers.h"

namespace argtrace {

/// One that passes numbers and addresses.
struct GoRegister {
    std::uint8_t index;        ///< of ARGTRACE_SOURCE_REG
    std::uint8_t dwarf_number; ///< System V x86-64 psABI, figure 3.36; AADWARF64, 4.1
};

/// Go's ABIInternal of one architecture (Go 1.17 and later; cmd/compile/abi-internal.md).
struct GoConvention {
    std::span<const GoRegister> registers;
    unsigned vectors; ///< so many of those for floating-point numbers, the first ones, pass these
    const DwarfRegisters &dwarf_registers;

    /// In which registers the arguments of a function are, the receiver first, or what it returns.
    std::vector<GoParts> place(std::span<const GoParts> values) const;
    /// The register with that number in DWARF; nothing if no argument is passed in it.
    std::optional<std::uint8_t> register_by_dwarf(unsigned number) const;
    /// The same of registers for floating-point numbers.
    std::optional<std::uint8_t> vector_by_dwarf(unsigned number) const;
};

extern const GoConvention go_convention_x86_64, go_convention_arm64;

/// That of programs of a machine: EM_*.
const GoConvention &go_convention(int machine);

} // namespace argtrace
