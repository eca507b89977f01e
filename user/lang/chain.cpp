// SPDX-License-Identifier: GPL-2.0-only
#include "lang/chain.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace argtrace::lang {

namespace {

constexpr std::uint64_t all_bits = ~std::uint64_t{0};
constexpr unsigned loads_max = 3;

constexpr std::uint64_t low_bits(unsigned count) {
    return count >= 64 ? all_bits : (std::uint64_t{1} << count) - 1;
}

constexpr bool has_top_bit(std::uint64_t value) {
    return value >> 63 != 0;
}

} // namespace

Chain Chain::of(std::uint8_t source, std::uint8_t index) {
    Chain chain;
    chain.source = source;
    chain.index = index;
    return chain;
}

Chain Chain::number(std::uint64_t value) {
    Chain chain;
    chain.constant = value;
    return chain;
}

Chain Chain::slot(unsigned index) {
    return of(ARGTRACE_SOURCE_SLOT, static_cast<std::uint8_t>(index));
}

bool Chain::is_plain(std::uint8_t wanted) const {
    return source == wanted && loads == 0 && address_offset == 0 && is_whole();
}

bool Chain::add(std::uint64_t bytes) {
    using Limits = std::numeric_limits<std::int32_t>;
    const auto sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(address_offset) + bytes);
    if (!is_whole() || loads == loads_max || sum < Limits::min() || sum > Limits::max())
        return false;
    address_offset = sum;
    return true;
}

bool Chain::load(unsigned bytes, Space space) {
    if (!is_whole() || loads == loads_max)
        return false;
    if (space == Space::user)
        user = static_cast<std::uint8_t>(user | 1u << loads);
    offsets[loads++] = static_cast<std::int32_t>(address_offset);
    address_offset = 0;
    width = static_cast<std::uint8_t>(bytes);
    bits = 8 * bytes;
    return true;
}

bool Chain::take(unsigned from, unsigned count, bool extends_sign) {
    if (swap || mask != all_bits || is_signed || from + count > bits)
        return false;
    low += from;
    bits = count;
    is_signed = extends_sign;
    return true;
}

bool Chain::convert(unsigned to_bits, bool to_signed) {
    if (mask != all_bits) {
        if (!to_signed)
            mask &= low_bits(to_bits);
        return !to_signed || to_bits == 64 || (mask >> (to_bits - 1)) == 0;
    }
    if (to_bits <= bits) {
        bits = to_bits;
        is_signed = to_signed;
    } else if (is_signed && !to_signed) {
        mask = low_bits(to_bits); // of 64 bits it is what it was
    }
    return true;
}

bool Chain::shift_right(unsigned count, bool arithmetic) {
    if (address_offset != 0 || count >= bits)
        return false;
    if (is_signed && !arithmetic && has_top_bit(mask))
        return false;
    if (arithmetic && bits == 64) // what is in slots is extended already
        is_signed = true;
    low += count;
    bits -= count;
    if (mask != all_bits)
        mask = arithmetic ? static_cast<std::uint64_t>(static_cast<std::int64_t>(mask) >> count)
                          : mask >> count;
    return true;
}

bool Chain::bit_and(std::uint64_t with) {
    if (address_offset != 0)
        return false;
    if (is_signed || (with & low_bits(bits)) != low_bits(bits))
        mask &= with;
    return true;
}

bool Chain::reverse(unsigned bytes) {
    if (swap || address_offset != 0 || low != 0 || mask != all_bits || bits != 8 * bytes)
        return false;
    swap = true;
    low = 64 - bits;
    return true;
}

argtrace_insn Chain::encode(bool copies_sign) const {
    argtrace_insn insn{};
    insn.source = source;
    insn.index = index;
    insn.loads = loads;
    insn.width = loads ? width : 0;
    std::copy(std::begin(offsets), std::end(offsets), insn.offset);
    if (loads < loads_max)
        insn.offset[loads] = static_cast<std::int32_t>(address_offset);
    if (source == ARGTRACE_SOURCE_CONST)
        insn.span = constant;
    if (swap)
        insn.flags |= ARGTRACE_INSN_SWAP;
    insn.mask = mask;
    insn.flags |= static_cast<std::uint8_t>(user * ARGTRACE_INSN_USER(0));
    if (shifts_sign()) {
        insn.shl = static_cast<std::uint8_t>(64 - low - bits);
        insn.shr = static_cast<std::uint8_t>(64 - bits);
        insn.flags |= ARGTRACE_INSN_SIGNED;
    } else {
        insn.shr = static_cast<std::uint8_t>(low);
        const unsigned top = swap ? 64 : significant();
        if (low + bits < top || (copies_sign && low > 0))
            insn.mask &= low_bits(bits);
    }
    return insn;
}

} // namespace argtrace::lang
