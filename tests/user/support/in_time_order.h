// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "report/time_order.h"
#include "report/trace_reader.h"

namespace argtrace::test {

/// Calls `take(packet, event)` for all events of a trace, in the order of their times.
template<typename Take>
void take_in_time_order(TraceReader &reader, Take take) {
    TimeOrder order;
    while (const auto item = reader.next()) {
        if (item->packet)
            order.add(item->packet);
        else
            order.advance(item->mark, take);
    }
    order.finish(take);
}

} // namespace argtrace::test
