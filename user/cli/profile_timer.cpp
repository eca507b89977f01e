// SPDX-License-Identifier: GPL-2.0-only
#include "cli/profile_timer.h"

#include <span>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

std::uint8_t parse_timer_event(const std::string &text) {
    if (text == "cycles")
        return ARGTRACE_TIMER_CYCLES;
    if (text == "cpu-clock")
        return ARGTRACE_TIMER_CPU_CLOCK;
    throw Error(fmt::format("--event takes cycles or cpu-clock, not '{}'", text));
}

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

} // namespace argtrace
