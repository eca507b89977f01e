// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "btf/prototype.h"

namespace argtrace {

/// Go's ABIInternal of one architecture (Go 1.17 and later; cmd/compile/abi-internal.md).
struct GoConvention {
    /// In which registers the arguments of a function are, the receiver first, or what it returns.
    std::vector<GoParts> (*place)(std::span<const GoParts> values);
    /// The register with that number in DWARF; nothing if no argument is passed in it.
    std::optional<std::uint8_t> (*register_by_dwarf)(unsigned number);
    /// The same of registers for floating-point numbers.
    std::optional<std::uint8_t> (*vector_by_dwarf)(unsigned number);
    std::uint8_t registers; ///< that pass numbers and addresses
    bool reads_vectors;     ///< the module reads those for floating-point numbers
};

extern const GoConvention go_convention_x86_64, go_convention_arm64;

/// That of programs of a machine: EM_*.
const GoConvention &go_convention(int machine);

/// What `place` does, with these registers (`index` of ARGTRACE_SOURCE_REG), and so many for floating-point numbers.
std::vector<GoParts> place_go(std::span<const GoParts> values, std::span<const std::uint8_t> registers, std::size_t floating_registers);

} // namespace argtrace
