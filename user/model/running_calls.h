// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/event.h"

namespace argtrace {

/// Calls that had begun and had not returned at some moment, as the module has found them on the stacks of their tasks.
struct RunningCalls {
    /// They are without a duration, and their clock is that of their beginning. Those of a task follow one another, the outermost
    /// first. Values that are no registers are not captured: they are known when the call returns.
    EventBatch batch;
    std::uint64_t clock = 0; ///< the moment, as Event::clock
    std::uint64_t ns = 0;    ///< the same, as Event::ts
    std::uint32_t mult = 1u << ARGTRACE_MULT_SHIFT; ///< of one unit of the clock

    /// When a call began, as Event::clock, that was recorded at `end` and had taken so many nanoseconds; nearly.
    std::uint64_t beginning(std::uint64_t end, std::uint64_t duration) const {
        __extension__ using Wide = unsigned __int128;
        return end - static_cast<std::uint64_t>((Wide{duration} << ARGTRACE_MULT_SHIFT) / std::max(mult, 1u));
    }
};

} // namespace argtrace
