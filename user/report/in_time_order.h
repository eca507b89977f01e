// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "report/time_order.h"
#include "report/trace_reader.h"

namespace argtrace {

/// Reads a trace to its end, and hands its events to `take(packet, event)` in the order in which they were
/// recorded, until that says no. `see(packet)` is called for each packet before any of its events are, and
/// after each part of the file `go_on()` is asked.
template<typename See, typename Take, typename GoOn>
void read_in_time_order(TraceReader &reader, See see, Take take, GoOn go_on) {
    TimeOrder order;
    for (bool wanted = true; wanted;) {
        const auto item = reader.next();
        if (!item) {
            order.finish(take);
            return;
        }
        if (item->packet) {
            see(*item->packet);
            order.add(item->packet);
        } else {
            wanted = order.advance(item->mark, take);
        }
        wanted = go_on() && wanted;
    }
}

template<typename Take>
void read_in_time_order(TraceReader &reader, Take take) {
    read_in_time_order(
        reader, [](const DecodedPacket &) {}, take, [] { return true; });
}

} // namespace argtrace
