// SPDX-License-Identifier: GPL-2.0-only
#include "live/loss_watch.h"

#include <algorithm>

#include "model/counts.h"
#include "util/clock.h"
#include "util/nanoseconds.h"

namespace argtrace {

namespace {

// What a merge hands out may be that much older than it could be.
constexpr std::uint64_t lag_ns = nanoseconds_per_millisecond;

} // namespace

std::optional<LossWatch::Gap> LossWatch::look(const Session &session) {
    const std::uint64_t lost = lost_total(total_of(session.counts(true)));
    const std::uint64_t now = monotonic_now();
    const Gap gap{looked_ - std::min(looked_, lag_ns), now + record_slack_ns};
    const bool more = lost != lost_;
    lost_ = lost;
    looked_ = now;
    return more ? std::optional(gap) : std::nullopt;
}

} // namespace argtrace
