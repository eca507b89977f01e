// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "analyze/sched_events.h"
#include "analyze/waits.h"
#include "report/trace_reader.h"

namespace argtrace {

/// What must be known of a recording before waits are made of its events, and stands at its end or in between.
struct TraceSurvey {
    /// Records were lost in that time, in ns.
    struct Gap {
        std::uint64_t from, to;
    };

    std::uint64_t begin = 0; ///< when all tracepoints were followed
    std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last = 0;  ///< an event
    std::vector<Gap> gaps;   ///< in the order of their beginnings
};

/// Reads a recording to its end.
TraceSurvey survey_trace(TraceReader &reader);

/// Hands the switches and wakeups of a recording, which has been surveyed, to a tracker.
class TraceWaits {
public:
    /// Both stay the caller's.
    TraceWaits(TraceReader &reader, const TraceSurvey &survey, WaitTracker &tracker);

    /// Goes through the recording; `tell` is called now and then, for progress.
    void run(const std::function<void()> &tell);

    /// Events that were looked at.
    std::uint64_t events() const { return events_; }

    /// When it ended: of the tasks that are waiting still, so long were they.
    std::uint64_t end() const;

private:
    TraceReader &reader_;
    const TraceSurvey &survey_;
    SchedEvents sched_;
    std::uint64_t events_ = 0;
};

} // namespace argtrace
