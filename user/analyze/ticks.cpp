// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ticks.h"

#include "uapi/argtrace.h"

namespace argtrace {

Ticks split_ticks(const Aggregation &all) {
    Ticks ticks{Aggregation(all.buckets()), 0};
    for (const auto &[key, entry] : all.entries()) {
        if (key.back().value.captured && key.back().value.low == ARGTRACE_STACK_ID_IDLE)
            ticks.idle += entry.total.count;
        else
            ticks.busy.add(key, entry);
    }
    return ticks;
}

} // namespace argtrace
