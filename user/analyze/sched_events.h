// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/waits.h"
#include "model/event.h"
#include "model/probe.h"

namespace argtrace {

/// What is recorded of the scheduler's tracepoints, and read again: the SPECs of the probes, and what their records say.
struct SchedSpecs {
    bool stacks = true;  ///< where tasks give up their CPU,
    bool wakers = false; ///< and where they are woken
    bool forks = false;  ///< which processes start which
    bool user_stacks = false; ///< where the code of tasks that give up their CPU has entered the kernel
    std::vector<std::uint32_t> pids; ///< switches and wakeups of these alone; empty: all

    std::vector<std::string> text() const;

    /// What is missing among these probes for the waits that are wanted: "t:sched:sched_waking with the stack"; empty: nothing.
    std::string missing_in(const std::vector<const Probe *> &probes) const;
};

enum class SchedKind : std::uint8_t { none, change, waking, wakeup, wakeup_new, fork };

/// Hands records of these SPECs to a tracker.
class SchedEvents {
public:
    explicit SchedEvents(WaitTracker &tracker) : tracker_(tracker) {}

    /// False if the record is none of them, or lacks a value.
    bool take(const EventView &view);

private:
    /// Where the values are that a record of this kind needs.
    struct Places {
        SchedKind kind = SchedKind::none;
        std::vector<std::size_t> values;
        StackPlaces stacks;
    };

    const Places &places_of(const Probe &probe);

    WaitTracker &tracker_;
    std::unordered_map<const Probe *, Places> known_;
};

} // namespace argtrace
