// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "export/exporter.h"
#include "report/time_order.h"

namespace argtrace {

/// Hands what TimeOrder gives, which goes by when calls were recorded, to an exporter in blocks that go
/// by when calls began, the longest first where that is the same, and losses where they belong among them.
class ExportFeed {
public:
    explicit ExportFeed(Exporter &exporter, std::size_t block_size = 8192)
        : exporter_(exporter), block_size_(block_size) {}

    /// Looks at what a packet says of losses, before its events come. Packets of a CPU come in
    /// their order.
    void packet(const DecodedPacket &packet);

    /// Takes one event of a packet.
    void event(const TimeOrder::Packet &packet, const Event &event) {
        if (packet->shown_in != block_number_) {
            packet->shown_in = block_number_;
            block_.batches.emplace_back(packet, &packet->batch);
        }
        if (block_.events.empty() || event.ts > last_) [[likely]] {
            last_ = event.ts;
            block_.events.push_back({&packet->batch, &event});
        } else {
            insert({&packet->batch, &event});
        }
        if (block_.events.size() == block_size_)
            flush();
    }

    /// Hands out what has been kept back. `loss`: what the end of the file says that each CPU has
    /// lost; may be empty. `running`: calls that have not returned; may be empty.
    void finish(const std::map<std::uint32_t, std::uint64_t> &loss, const EventBatch &running = {});

private:
    struct Cpu {
        bool seen = false;
        std::uint64_t base = 0;  // lost before the recording began
        std::uint64_t known = 0; // since then
    };

    void insert(EventBlock::Entry entry);
    void flush();
    void give_running(const EventBatch &running);
    void note_lost(std::uint32_t cpu, std::uint64_t ts, std::uint64_t lost);

    Exporter &exporter_;
    std::size_t block_size_;
    EventBlock block_;
    std::uint64_t block_number_ = 1;
    std::map<std::uint32_t, Cpu> cpus_;
    std::multimap<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>>
        losses_;             // by time: CPU and calls
    std::uint64_t last_ = 0; // the latest beginning in the block, or in those before it
};

} // namespace argtrace
