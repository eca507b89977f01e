// SPDX-License-Identifier: GPL-2.0-only
#include "live/profile_timer.h"

#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "util/error.h"
#include "util/file.h"
#include "util/message.h"

namespace argtrace {

namespace {

// Without /proc nothing is missed that could be told.
std::optional<CpuTime> cpu_time_now() {
    try {
        return parse_cpu_time(view(read_file("/proc/stat")), static_cast<double>(::sysconf(_SC_CLK_TCK)));
    } catch (const std::system_error &) {
        return std::nullopt;
    }
}

} // namespace

void add_timer(Session &session, const TimerChoice &choice, Probe &probe) {
    if (!(session.info().features & ARGTRACE_FEATURE_TIMER))
        throw Error("the loaded module has no timers: load the module of this version");
    auto refused = session.add(std::span(&probe, 1));
    if (refused && refused->unfollowed && choice.any_event) {
        Timer timer = choice.timer;
        timer.event = ARGTRACE_TIMER_CPU_CLOCK;
        probe.addr = timer.addr();
        probe.function = timer.name();
        refused = session.add(std::span(&probe, 1));
    }
    if (!refused)
        return;
    if (refused->unfollowed)
        throw Error(fmt::format("{}: this machine cannot be interrupted by it: take another --event",
                                probe.function));
    throw Error(fmt::format("the loaded module does not tick {} times a second, or does not know what "
                            "--if or --by take: at most {} ticks are possible",
                            choice.timer.frequency, ARGTRACE_TIMER_FREQUENCY_MAX));
}

std::string describe_timer(const TimerChoice &choice, const Probe &probe) {
    return fmt::format("{}{}, {} time{} a second on each CPU", probe.function,
                       probe.function == choice.timer.name()
                           ? ""
                           : fmt::format(" (this machine counts no {})", choice.timer.name()),
                       choice.timer.frequency, choice.timer.frequency == 1 ? "" : "s");
}

TickWatch::TickWatch(const TimerChoice &choice, const Probe &probe) : timer_(choice.timer), begin_(cpu_time_now()) {
    if (probe.function != timer_.name())
        timer_.event = ARGTRACE_TIMER_CPU_CLOCK;
}

void TickWatch::end() {
    const std::optional<CpuTime> now = cpu_time_now();
    if (begin_ && now)
        time_ = now->since(*begin_);
}

void TickWatch::print_missing(const argtrace_counts &total, std::optional<std::uint64_t> idle) const {
    if (!time_)
        return;
    if (const auto missing = missing_ticks(timer_, *time_, total, idle))
        write_message(missing_ticks_sentence(timer_, *missing, number_in_file("/proc/sys/kernel/perf_event_max_sample_rate")));
}

} // namespace argtrace
