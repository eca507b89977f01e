// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "btf/prototype.h"

namespace argtrace {

/// Go's ABIInternal of x86-64 (Go 1.17 and later; cmd/compile/abi-internal.md): in which registers the arguments of a function are, the
/// receiver first, or what it returns.
std::vector<GoParts> go_x86_64(std::span<const GoParts> values);

/// The number of a register for floating-point numbers by that in DWARF; nothing if no argument is passed in it.
std::optional<std::uint8_t> go_vector_x86_64(unsigned dwarf_number);

/// The register with that number in DWARF; nothing if no argument is passed in it.
std::optional<std::uint8_t> go_register_x86_64(unsigned dwarf_number);

} // namespace argtrace
