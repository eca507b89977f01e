// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <vector>

#include "uapi/argtrace_program.h"

namespace argtrace::lang {

// Programs compare floating-point numbers by their bits, as unsigned numbers: those of IEEE 754 without the sign are in the order of
// what they stand for, and what is above infinity is no number.

/// The formats of 4 and 8 bytes.
struct FloatingFormat {
    std::uint64_t sign;     ///< the bit
    std::uint64_t infinity; ///< the bits
};

constexpr FloatingFormat floating_format(std::uint64_t bytes) {
    return bytes == 4 ? FloatingFormat{0x80000000, 0x7f800000} : FloatingFormat{std::uint64_t{1} << 63, std::uint64_t{0x7ff} << 52};
}

/// Bits from `first` to `last`.
struct BitRange {
    std::uint64_t first;
    std::uint64_t last;

    bool operator==(const BitRange &) const = default;
};

/// The bits of all numbers x for which `x op constant` holds, or `constant op x` if it is mirrored: EQ, LT or LE. In at most two ranges.
std::vector<BitRange> ranges_of_comparison(argtrace_alu op, bool mirrored, std::uint64_t constant, FloatingFormat format);

/// The nearest number of 4 bytes to one of 8, as bits.
std::uint64_t float_bits(double number);

} // namespace argtrace::lang
