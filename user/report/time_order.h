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
#include "util/merge_heap.h"

namespace argtrace {

/// The packets of all CPUs as one stream of events in the order in which they were recorded; those of
/// the same time go by CPU. Within a CPU packets come in that order already.
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
    struct CpuStream {
        std::deque<Packet> packets;  // none without events
        const Event *next = nullptr; // in the first of them,
        const Event *end = nullptr;  // and where that ends

        void open() {
            const std::vector<Event> &events = packets.front()->batch.events;
            next = events.data();
            end = next + events.size();
        }
    };

    std::map<std::uint32_t, CpuStream> streams_;
};

template<typename Take>
bool TimeOrder::advance(std::uint64_t limit, Take take) {
    MergeHeap<CpuStream> heap;
    for (auto &[cpu, stream] : streams_) {
        if (!stream.packets.empty())
            heap.add(stream.next->end(), cpu, stream);
    }
    heap.order();
    const bool all = limit == std::numeric_limits<std::uint64_t>::max();

    while (!heap.empty() && (all || heap.front().time < limit)) {
        CpuStream &stream = *heap.front().source;
        const Packet &packet = stream.packets.front();
        // What is older than all that other CPUs have needs no comparing.
        const std::uint64_t until = std::min(limit, heap.second_time());
        const Event *event = stream.next;
        bool more;
        do
            more = take(packet, *event++);
        while (more && event != stream.end && event->end() < until);
        stream.next = event;
        if (event == stream.end) {
            stream.packets.pop_front();
            if (!stream.packets.empty())
                stream.open();
        }
        if (!more)
            return false;
        if (!stream.packets.empty()) [[likely]]
            heap.advance(stream.next->end());
        else
            heap.drop();
    }
    return true;
}

} // namespace argtrace
