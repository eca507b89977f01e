// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "analyze/aggregation.h"
#include "model/stack_choice.h"

namespace argtrace {

/// The ticks of a timer, whose keys end with the kernel's stack, behind which that of user code may follow.
struct Ticks {
    Aggregation busy;       ///< all but those of idle CPUs
    std::uint64_t idle = 0; ///< ticks that found a CPU idle
};

/// `which`: the stacks that the keys have; `shown`: those that they are to have from here on. Only the kernel's tells of idle CPUs.
Ticks split_ticks(const Aggregation &all, StackChoice which = kernel_stack, StackChoice shown = kernel_stack);

} // namespace argtrace
