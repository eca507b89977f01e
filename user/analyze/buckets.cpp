// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/buckets.h"

#include <bit>
#include <limits>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

namespace {

std::int64_t log2_number(std::uint64_t value, bool is_signed) {
    if (is_signed && static_cast<std::int64_t>(value) < 0)
        return -static_cast<std::int64_t>(std::bit_width(-value));
    return static_cast<std::int64_t>(std::bit_width(value));
}

WideNumber power_of_two(std::int64_t exponent) {
    return WideNumber{1} << exponent;
}

} // namespace

std::int64_t Buckets::number_of(std::uint64_t value) const {
    switch (kind) {
    case Kind::none:
        return 0;
    case Kind::log2:
        return log2_number(value, is_signed);
    case Kind::linear:
        break;
    }
    const WideNumber above = widen(value) - widen(low);
    if (above < 0)
        return -1;
    const WideNumber number = above / step;
    return number < count ? static_cast<std::int64_t>(number) : std::int64_t{count};
}

Buckets::Range Buckets::range_of(std::int64_t number) const {
    if (kind == Kind::linear) {
        const WideNumber from = widen(low) + WideNumber{number} * step;
        if (number < 0)
            return {from, widen(low), true, false};
        return {from, from + step, false, number >= std::int64_t{count}};
    }
    if (kind == Kind::none || number == 0)
        return {0, 1};
    if (number > 0)
        return {power_of_two(number - 1), power_of_two(number)};
    // -2^63 is alone in its bucket.
    const WideNumber least = std::numeric_limits<std::int64_t>::min();
    const WideNumber from = 1 - power_of_two(-number);
    return {from < least ? least : from, 1 - power_of_two(-number - 1)};
}

void check_linear(const Buckets &buckets) {
    if (buckets.kind != Buckets::Kind::linear)
        return;
    const auto from = static_cast<std::int64_t>(buckets.low); // which is how --linear is read
    if (from < 0 && !buckets.is_signed)
        throw Error(fmt::format("--linear begins at {}, and the value is unsigned, so that none is below zero: begin at 0, or make it a "
                                "signed number, as in 'vfs_read((long)count)'",
                                from));
    const WideNumber end = WideNumber{from} + WideNumber{buckets.step} * buckets.count;
    if (buckets.is_signed && end - 1 > std::numeric_limits<std::int64_t>::max())
        throw Error(fmt::format("--linear has a last bucket that ends at {}, and the greatest signed number is {}: end it lower", end,
                                std::numeric_limits<std::int64_t>::max()));
}

} // namespace argtrace
