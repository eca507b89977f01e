// SPDX-License-Identifier: GPL-2.0-only
#include "abi/go_arm64.h"

#include <array>
#include <cstddef>

#include "abi/calling_convention.h"
#include "abi/go_convention.h"

namespace argtrace {

namespace {

// Programs and DWARF (AADWARF64, 4.1) number them as they are called.
constexpr std::array<std::uint8_t, 16> go_registers_arm64 = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr std::size_t go_vectors_arm64 = 16;

} // namespace

std::vector<GoParts> go_arm64(std::span<const GoParts> values) {
    return place_go(values, go_registers_arm64, go_vectors_arm64);
}

std::optional<std::uint8_t> go_vector_arm64(unsigned dwarf_number) {
    constexpr unsigned first = dwarf_registers_aapcs64.first_vector;
    if (dwarf_number < first || dwarf_number >= first + go_vectors_arm64)
        return std::nullopt;
    return static_cast<std::uint8_t>(dwarf_number - first);
}

std::optional<std::uint8_t> go_register_arm64(unsigned dwarf_number) {
    if (dwarf_number >= go_registers_arm64.size())
        return std::nullopt;
    return go_registers_arm64[dwarf_number];
}

} // namespace argtrace
