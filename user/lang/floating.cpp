// SPDX-License-Identifier: GPL-2.0-only
#include "lang/floating.h"

#include <bit>

namespace argtrace::lang {

namespace {

// x < constant, or x <= constant.
std::vector<BitRange> below(bool including, std::uint64_t constant, FloatingFormat format) {
    const std::uint64_t magnitude = constant & ~format.sign;
    const BitRange negative{format.sign, format.sign | format.infinity};
    if (magnitude == 0) // both zeros are equal
        return including ? std::vector<BitRange>{{0, 0}, negative} : std::vector<BitRange>{{format.sign + 1, negative.last}};
    if (constant & format.sign) {
        const std::uint64_t first = including ? constant : constant + 1;
        return first > negative.last ? std::vector<BitRange>{} : std::vector<BitRange>{{first, negative.last}};
    }
    return {{0, including ? constant : constant - 1}, negative};
}

// x > constant, or x >= constant: what is below the opposite with the other sign.
std::vector<BitRange> above(bool including, std::uint64_t constant, FloatingFormat format) {
    std::vector<BitRange> ranges = below(including, constant ^ format.sign, format);
    for (BitRange &range : ranges) {
        range.first ^= format.sign;
        range.last ^= format.sign;
    }
    return ranges;
}

} // namespace

std::vector<BitRange> ranges_of_comparison(argtrace_alu op, bool mirrored, std::uint64_t constant, FloatingFormat format) {
    const std::uint64_t magnitude = constant & ~format.sign;
    if (magnitude > format.infinity)
        return {};
    if (op != ARGTRACE_ALU_EQ)
        return mirrored ? above(op == ARGTRACE_ALU_LE, constant, format) : below(op == ARGTRACE_ALU_LE, constant, format);
    if (magnitude == 0)
        return {{0, 0}, {format.sign, format.sign}};
    return {{constant, constant}};
}

std::uint64_t float_bits(double number) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(number));
}

} // namespace argtrace::lang
