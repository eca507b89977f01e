// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "uapi/argtrace.h"

namespace argtrace {

/// The name of a clock, ARGTRACE_CLOCK_*, as --clock takes it.
constexpr const char *clock_name(std::uint32_t clock) {
    return clock == ARGTRACE_CLOCK_TSC ? "tsc" : "mono";
}

} // namespace argtrace
