// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

namespace argtrace::elf {

/// The signed number that an instruction of arm64 has in its bits from `first` on.
constexpr std::int64_t arm64_signed_field(std::uint32_t instruction, unsigned first, unsigned bits) {
    return static_cast<std::int32_t>(instruction << (32 - first - bits)) >> (32 - bits);
}

/// The same of a number of instructions, in bytes, as an address takes them.
constexpr std::uint64_t arm64_distance(std::uint32_t instruction, unsigned first, unsigned bits) {
    return static_cast<std::uint64_t>(arm64_signed_field(instruction, first, bits) * 4);
}

} // namespace argtrace::elf
