// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/wide_number.h"

namespace argtrace {

/// How often durations occurred, in buckets whose width is at most a 32nd of what is in them.
class DurationHistogram {
public:
    void add(std::uint64_t nanoseconds) {
        const std::size_t bucket = bucket_of(nanoseconds);
        if (bucket >= buckets_.size())
            buckets_.resize(bucket + 1);
        ++buckets_[bucket];
        ++count_;
        sum_ += nanoseconds;
        if (nanoseconds > max_)
            max_ = nanoseconds;
    }

    std::uint64_t count() const { return count_; }
    WideNumber sum() const { return sum_; }
    std::uint64_t max() const { return max_; }
    std::uint64_t mean() const { return count_ ? static_cast<std::uint64_t>(sum_ / count_) : 0; }

    /// That of which `share` (0 to 1) of all are no longer, to within a 32nd; 0 of none.
    std::uint64_t percentile(double share) const {
        const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(count_));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < buckets_.size(); ++i) {
            seen += buckets_[i];
            if (seen > wanted || seen == count_)
                return last_of(i) < max_ ? last_of(i) : max_;
        }
        return 0;
    }

private:
    static constexpr unsigned step_bits = 5; // 32 buckets in each power of two

    static std::size_t bucket_of(std::uint64_t value) {
        const auto bits = static_cast<unsigned>(std::bit_width(value));
        if (bits <= step_bits)
            return value;
        const unsigned shift = bits - step_bits - 1;
        return (std::size_t{shift} << step_bits) + (value >> shift);
    }

    /// The largest value in it.
    static std::uint64_t last_of(std::size_t bucket) {
        constexpr std::size_t steps = std::size_t{1} << step_bits;
        if (bucket < 2 * steps)
            return bucket;
        const std::size_t shift = (bucket >> step_bits) - 1;
        return ((bucket - (shift << step_bits) + 1) << shift) - 1;
    }

    std::vector<std::uint64_t> buckets_;
    std::uint64_t count_ = 0, max_ = 0;
    WideNumber sum_ = 0;
};

} // namespace argtrace
