// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "report/decoded_packet.h"
#include "util/heap.h"

namespace argtrace {

/// The packets of all CPUs as one stream of events in the order of time; those of the same time
/// go by CPU. Within a CPU packets come in that order already.
class TimeOrder {
public:
    using Packet = std::shared_ptr<DecodedPacket>;

    void add(Packet packet);

    /// Hands all events that are older than `limit` to `take(packet, event)`, until that says no.
    template<typename Take>
    bool advance(std::uint64_t limit, Take take);

    /// All that are left.
    template<typename Take>
    bool finish(Take take) {
        return advance(std::numeric_limits<std::uint64_t>::max(), take);
    }

private:
    struct Lane {
        std::deque<Packet> packets; // none without events
        std::size_t next = 0;       // in the first of them

        std::uint64_t front() const { return packets.front()->batch.events[next].ts; }
    };

    struct Front {
        std::uint64_t ts;
        std::uint32_t cpu;
        Lane *lane;
    };

    /// The order of the heap, whose front is the greatest: the oldest event.
    struct Later {
        bool operator()(const Front &a, const Front &b) const {
            return a.ts != b.ts ? a.ts > b.ts : a.cpu > b.cpu;
        }
    };

    std::map<std::uint32_t, Lane> lanes_;
};

template<typename Take>
bool TimeOrder::advance(std::uint64_t limit, Take take) {
    std::vector<Front> fronts;
    for (auto &[cpu, lane] : lanes_) {
        if (!lane.packets.empty())
            fronts.push_back({lane.front(), cpu, &lane});
    }
    std::make_heap(fronts.begin(), fronts.end(), Later());
    const bool all = limit == std::numeric_limits<std::uint64_t>::max();

    while (!fronts.empty() && (all || fronts.front().ts < limit)) {
        const Front front = fronts.front();
        Lane &lane = *front.lane;
        const Packet &packet = lane.packets.front();
        const std::vector<Event> &events = packet->batch.events;
        const bool more = take(packet, events[lane.next]);
        if (++lane.next == events.size()) {
            lane.packets.pop_front();
            lane.next = 0;
        }
        if (!more)
            return false;
        if (!lane.packets.empty()) [[likely]]
            replace_heap_front(fronts, {lane.front(), front.cpu, &lane}, Later());
        else
            drop_heap_front(fronts, Later());
    }
    return true;
}

} // namespace argtrace
