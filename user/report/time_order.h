// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "report/decoded_packet.h"

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

        bool operator<(const Front &other) const {
            return std::pair(ts, cpu) < std::pair(other.ts, other.cpu);
        }
    };

    std::map<std::uint32_t, Lane> lanes_;
};

template<typename Take>
bool TimeOrder::advance(std::uint64_t limit, Take take) {
    std::vector<Front> fronts; // the oldest last
    for (auto &[cpu, lane] : lanes_) {
        if (!lane.packets.empty())
            fronts.push_back({lane.front(), cpu, &lane});
    }
    const auto younger = [](const Front &a, const Front &b) { return b < a; };
    std::sort(fronts.begin(), fronts.end(), younger);
    const bool all = limit == std::numeric_limits<std::uint64_t>::max();

    while (!fronts.empty() && (all || fronts.back().ts < limit)) {
        Front front = fronts.back();
        fronts.pop_back();
        Lane &lane = *front.lane;
        // As long as this CPU has the oldest.
        do {
            const Packet &packet = lane.packets.front();
            const bool more = take(packet, packet->batch.events[lane.next]);
            if (++lane.next == packet->batch.events.size()) {
                lane.packets.pop_front();
                lane.next = 0;
            }
            if (!more)
                return false;
            if (lane.packets.empty())
                break;
            front.ts = lane.front();
        } while ((all || front.ts < limit) && (fronts.empty() || front < fronts.back()));
        if (!lane.packets.empty())
            fronts.insert(std::upper_bound(fronts.begin(), fronts.end(), front, younger), front);
    }
    return true;
}

} // namespace argtrace
