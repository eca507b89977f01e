// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/expected_ticks.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace argtrace {

namespace {

// Less says nothing: the kernel itself tells busy from idle by samples.
constexpr double least_busy_seconds = 0.5;
constexpr double least_expected = 100;
// A machine that is slow has some come late, as one.
constexpr double clearly_fewer = 0.5;

} // namespace

std::optional<CpuTime> parse_cpu_time(std::string_view stat, double units) {
    constexpr std::string_view head = "cpu ";
    if (!stat.starts_with(head))
        return std::nullopt;
    // user, nice, system, idle, iowait, irq, softirq
    std::array<std::uint64_t, 7> times{};
    const char *at = stat.data() + head.size();
    const char *const end = stat.data() + stat.size();
    for (std::uint64_t &time : times) {
        while (at < end && *at == ' ')
            ++at;
        const auto [behind, error] = std::from_chars(at, end, time);
        if (error != std::errc())
            return std::nullopt;
        at = behind;
    }
    const auto &[user, nice, system, idle, iowait, irq, softirq] = times;
    return CpuTime{static_cast<double>(user + nice + system + irq + softirq) / units, static_cast<double>(idle + iowait) / units};
}

std::optional<MissingTicks> missing_ticks(const Timer &timer, const CpuTime &time, const argtrace_counts &total,
                                          std::optional<std::uint64_t> idle) {
    if (time.busy < least_busy_seconds)
        return std::nullopt;
    const bool tells_idle = idle && !timer.idle && !total.filtered && !total.sampled && !total.capped;
    std::uint64_t received = hits(total);
    double seconds = time.busy;
    if (tells_idle)
        received -= *idle;
    else if (timer.event == ARGTRACE_TIMER_CPU_CLOCK)
        seconds += time.idle;
    const double expected = seconds * timer.frequency;
    if (expected < least_expected || static_cast<double>(received) >= expected * clearly_fewer)
        return std::nullopt;
    return MissingTicks{static_cast<std::uint64_t>(expected), received};
}

std::string missing_ticks_sentence(const Timer &timer, const MissingTicks &missing, std::optional<std::uint64_t> limit) {
    const std::string came = fmt::format("{} of about {} ticks came; the others are in no count: ", missing.received, missing.expected);
    if (limit && *limit < timer.frequency)
        return came + fmt::format("perf pauses what ticks more than {} times a second, which is kernel.perf_event_max_sample_rate: raise "
                                  "that with sysctl, or kernel.perf_cpu_time_max_percent if the kernel lowers it again, or give a lower -F",
                                  *limit);
    if (timer.event == ARGTRACE_TIMER_CYCLES)
        return came + "the processors cannot be interrupted so often, or share their counter with other users of perf: give a lower -F, or "
                      "-e cpu-clock";
    return came + "the processors cannot be interrupted so often: give a lower -F";
}

} // namespace argtrace
