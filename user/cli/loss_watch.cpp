// SPDX-License-Identifier: GPL-2.0-only
#include "cli/loss_watch.h"

#include <algorithm>

#include "model/counts.h"
#include "util/clock.h"
#include "util/nanoseconds.h"

namespace argtrace {

namespace {

// What a merge hands out may be that much older than it could be.
constexpr std::uint64_t lag_ns = nanoseconds_per_millisecond;

// The times of records are right to two microseconds (uapi/argtrace.h).
constexpr std::uint64_t clock_slack_ns = 10000;

} // namespace

std::optional<LossWatch::Gap> LossWatch::look(const Session &session) {
    const std::uint64_t lost = lost_total(total_of(session.counts(true)));
    const Gap gap{looked_ - std::min(looked_, lag_ns), monotonic_now() + clock_slack_ns};
    const bool more = lost != lost_;
    lost_ = lost;
    looked_ = gap.to - clock_slack_ns;
    return more ? std::optional(gap) : std::nullopt;
}

} // namespace argtrace
