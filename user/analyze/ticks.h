// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "analyze/aggregation.h"

namespace argtrace {

/// The ticks of a timer, whose keys end with the stack.
struct Ticks {
    Aggregation busy;       ///< all but those of idle CPUs
    std::uint64_t idle = 0; ///< ticks that found a CPU idle
};

Ticks split_ticks(const Aggregation &all);

} // namespace argtrace
