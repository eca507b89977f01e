// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "lang/type.h"
#include "uapi/argtrace_program.h"

namespace argtrace::lang {

/// What one instruction computes before its action: a source, up to three loads, an offset, and
/// of the result a range of bits, extended by its sign or by zeros, and masked. Each function
/// adds a step; where that does not fit it returns false, and has changed nothing.
struct Chain {
    std::uint8_t source = ARGTRACE_SOURCE_CONST;
    std::uint8_t index = 0;
    std::uint8_t loads = 0;
    std::uint8_t width = 0;
    std::int32_t offsets[3]{};
    std::uint8_t user = 0;           ///< bit i: load i is of user memory
    std::int64_t address_offset = 0; ///< behind the last load
    bool swap = false;               ///< before bits are taken
    unsigned low = 0;                ///< bits low to low + bits - 1
    unsigned bits = 64;
    bool is_signed = false;
    std::uint64_t mask = ~std::uint64_t{0};
    std::uint64_t constant = 0; ///< SOURCE_CONST

    static Chain of(std::uint8_t source, std::uint8_t index = 0);
    static Chain number(std::uint64_t value);
    static Chain slot(unsigned index);

    /// Nothing follows the loads and the offset.
    bool is_whole() const { return !swap && low == 0 && bits == 64 && mask == ~std::uint64_t{0}; }
    /// It is a source and nothing else.
    bool is_plain(std::uint8_t wanted) const;

    bool add(std::uint64_t bytes);
    bool load(unsigned bytes, Space space);
    bool take(unsigned from, unsigned count, bool extends_sign); ///< of what was loaded
    bool convert(unsigned to_bits, bool to_signed);
    bool shift_right(unsigned count, bool arithmetic);
    bool bit_and(std::uint64_t with);
    bool reverse(unsigned bytes); ///< the bytes of a value of so many

    /// How many bits the loads, or the source, leave that are not zero for sure.
    unsigned significant() const { return loads ? 8u * width : 64; }

    bool shifts_sign() const { return is_signed && bits < 64; }

    /// The instruction without its action. With `copies_sign` the flag SIGNED will be set for
    /// another reason, and bits that must be zero are masked. shifts_sign() sets it, too.
    argtrace_insn encode(bool copies_sign = false) const;
};

} // namespace argtrace::lang
