// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "btf/prototype.h"

namespace argtrace {

/// As GoConvention has it, of arm64: R0 to R15, and F0 to F15.
std::vector<GoParts> go_arm64(std::span<const GoParts> values);
std::optional<std::uint8_t> go_vector_arm64(unsigned dwarf_number);
std::optional<std::uint8_t> go_register_arm64(unsigned dwarf_number);

} // namespace argtrace
