// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/timer.h"
#include "session/session.h"

namespace argtrace {

/// What `profile` is asked to have tick.
struct TimerChoice {
    Timer timer;
    bool any_event = true; ///< where cycles cannot be counted, time is
};

/// The event of that name. Throws Error.
std::uint8_t parse_timer_event(const std::string &text);

/// Adds the one probe, which is of the timer. Where it counts another event than asked for, the probe says which. Throws Error.
void add_timer(Session &session, const TimerChoice &choice, Probe &probe);

/// "cycles, 99 times a second on each CPU"
std::string describe_timer(const TimerChoice &choice, const Probe &probe);

} // namespace argtrace
