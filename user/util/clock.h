// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

namespace argtrace {

/// ns of CLOCK_MONOTONIC, in which events are shown.
std::uint64_t monotonic_now();

/// ns of CLOCK_BOOTTIME, which goes on while the machine is suspended.
std::uint64_t boottime_now();

/// ns of CLOCK_REALTIME, since 1970.
std::uint64_t realtime_now();

} // namespace argtrace
