// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/expected_ticks.h"
#include "model/timer.h"
#include "session/session.h"

namespace argtrace {

/// Adds the one probe, which is of the timer. Where it counts another event than asked for, the probe says which. Throws Error.
void add_timer(Session &session, const TimerChoice &choice, Probe &probe);

/// "cycles, 99 times a second on each CPU"
std::string describe_timer(const TimerChoice &choice, const Probe &probe);

/// Notices ticks that do not come, of a timer that has just been added.
class TickWatch {
public:
    TickWatch(const TimerChoice &choice, const Probe &probe);

    /// The timer has ended.
    void end();

    /// Tells of ticks that are missing, where they are. `idle` is how many of them have found a CPU idle, if that is known.
    void print_missing(const argtrace_counts &total, std::optional<std::uint64_t> idle) const;

private:
    Timer timer_; // which really ticks
    std::optional<CpuTime> begin_, time_;
};

} // namespace argtrace
