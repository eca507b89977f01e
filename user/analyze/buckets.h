// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "util/wide_number.h"

namespace argtrace {

/// How values are put into buckets: as the module does it, see uapi/argtrace_map.h, so that a map and
/// a recording give the same histogram.
struct Buckets {
    enum class Kind : std::uint8_t { none, log2, linear };

    Kind kind = Kind::none;
    bool is_signed = false;
    std::uint64_t low = 0; ///< linear: where the first bucket begins,
    std::uint64_t step = 1; ///< how wide each is,
    std::uint32_t count = 0; ///< and how many there are

    /// The number of the bucket that a value is in; 0 without buckets.
    std::int64_t number_of(std::uint64_t value) const;

    /// The values of a bucket: from <= value < to.
    struct Range {
        WideNumber from = 0, to = 0;
        bool open_below = false; ///< linear: all that is lower than `to`
        bool open_above = false; ///< linear: all from `from` on

        bool operator==(const Range &) const = default;
    };

    Range range_of(std::int64_t number) const;

    /// A value as the number that it is.
    WideNumber widen(std::uint64_t value) const { return argtrace::widen(value, is_signed); }

    bool operator==(const Buckets &) const = default;
};

/// Throws Error when linear buckets begin or end where no value of that sign can be.
void check_linear(const Buckets &buckets);

} // namespace argtrace
