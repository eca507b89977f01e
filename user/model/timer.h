// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string_view>

#include "uapi/argtrace.h"

namespace argtrace {

/// What ticks on each CPU, see uapi/argtrace_timer.h.
struct Timer {
    std::uint8_t event = ARGTRACE_TIMER_CYCLES; ///< enum argtrace_timer_event
    std::uint32_t frequency = 99;               ///< ticks in a second
    bool idle = false;                          ///< idle CPUs have stacks, too

    std::uint64_t addr() const {
        return ARGTRACE_TIMER(event, frequency, idle ? ARGTRACE_TIMER_IDLE : 0u);
    }
    /// Under which its ticks are shown.
    std::string_view name() const { return event == ARGTRACE_TIMER_CYCLES ? "cycles" : "cpu-clock"; }

    bool operator==(const Timer &) const = default;
};

/// What `profile` is asked to have tick.
struct TimerChoice {
    Timer timer;
    bool any_event = true; ///< where cycles cannot be counted, time is
};

/// What is shown in place of a stack that has such a number; empty: it is the number of a stack.
constexpr std::string_view stack_mark(std::uint64_t id) {
    return id == ARGTRACE_STACK_ID_USER ? "[user]" : id == ARGTRACE_STACK_ID_IDLE ? "[idle]" : "";
}

} // namespace argtrace
