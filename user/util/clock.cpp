// SPDX-License-Identifier: GPL-2.0-only
#include "util/clock.h"

#include <ctime>

#include "util/nanoseconds.h"

namespace argtrace {

namespace {

std::uint64_t now_of(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * nanoseconds_per_second +
           static_cast<std::uint64_t>(time.tv_nsec);
}

} // namespace

std::uint64_t monotonic_now() {
    return now_of(CLOCK_MONOTONIC);
}

std::uint64_t boottime_now() {
    return now_of(CLOCK_BOOTTIME);
}

std::uint64_t realtime_now() {
    return now_of(CLOCK_REALTIME);
}

} // namespace argtrace
