// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/counts.h"
#include "model/timer.h"

namespace argtrace {

/// What the processors of a machine have done, in seconds of each added up.
struct CpuTime {
    double busy = 0;
    double idle = 0;

    CpuTime since(const CpuTime &before) const { return {busy - before.busy, idle - before.idle}; }
};

/// Reads the first line of /proc/stat, whose times are in units of 1/`units` seconds. What a hypervisor has taken away is neither.
std::optional<CpuTime> parse_cpu_time(std::string_view stat, double units);

/// How many ticks there were to be, beside those that there were, where the latter are clearly fewer.
struct MissingTicks {
    std::uint64_t expected = 0;
    std::uint64_t received = 0;
};

/// `timer` is what has really ticked, for so long. Where it is known how many ticks have found a CPU idle, and no filter has kept
/// that from being known of the others, busy CPUs alone are looked at: what an idle one misses is in no table.
std::optional<MissingTicks> missing_ticks(const Timer &timer, const CpuTime &time, const argtrace_counts &total,
                                          std::optional<std::uint64_t> idle);

/// The sentence for it, with the way out. `limit` is what kernel.perf_event_max_sample_rate says, where it can be read.
std::string missing_ticks_sentence(const Timer &timer, const MissingTicks &missing, std::optional<std::uint64_t> limit);

} // namespace argtrace
