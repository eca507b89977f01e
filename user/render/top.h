// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/aggregation.h"

namespace argtrace {

/// What functions are ordered by in `top`: a number, the largest first, or their names.
enum class TopOrder : std::uint8_t { calls, errors, total, mean, p99, name };

/// Throws Error when the text is none of their names.
TopOrder parse_top_order(const std::string &text);
std::string_view top_order_name(TopOrder order);

/// The next one, in a circle; those of durations only if there are any.
TopOrder next_top_order(TopOrder order, bool has_durations);

struct TopStyle {
    TopOrder order = TopOrder::calls;
    bool has_durations = false;
    std::string part;                ///< only functions in whose names this is
    std::optional<std::size_t> rows; ///< no more
};

/// The busiest functions: their calls, how many that is in a second, and with durations how many of
/// them returned an error, the time that they took together, the mean of it, 99 % and the longest. The keys are the
/// name of the function, and with durations whether it is an error.
void append_top(std::string &out, const Aggregation &all, std::uint64_t nanoseconds,
                const TopStyle &style);

/// The same as an object a line, with the time:
///
///     {"ts":12,"func":"vfs_read","count":12,"per_second":6.0,"errors":0,"sum":12000,"avg":1000,"p99":1200,"max":1300}
///
/// From `errors` on only with durations, which are in nanoseconds.
void append_top_json(std::string &out, const Aggregation &all, std::uint64_t nanoseconds, const TopStyle &style, std::uint64_t ts);

} // namespace argtrace
