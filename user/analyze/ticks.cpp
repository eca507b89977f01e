// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ticks.h"

#include "uapi/argtrace.h"

namespace argtrace {

Ticks split_ticks(const Aggregation &all, StackChoice which, StackChoice shown) {
    Ticks ticks{Aggregation(all.buckets()), 0};
    for (const auto &[key, entry] : all.entries()) {
        const std::size_t kernel = key.size() - 1 - std::size_t{which.user};
        if (which.kernel && key[kernel].value.captured && key[kernel].value.low == ARGTRACE_STACK_ID_IDLE) {
            ticks.idle += entry.total.count;
        } else if (which == shown) {
            ticks.busy.add(key, entry);
        } else {
            Key rest = key;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(kernel));
            ticks.busy.add(rest, entry);
        }
    }
    return ticks;
}

} // namespace argtrace
