// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "export/exporter.h"
#include "report/time_order.h"

namespace argtrace {

/// Hands what TimeOrder gives to an exporter: events of the same time longest first, and losses
/// where they belong among them.
class ExportFeed {
public:
    explicit ExportFeed(Exporter &exporter) : exporter_(exporter) {}

    /// Looks at what a packet says of losses, before its events come. Packets of a CPU come in
    /// their order.
    void packet(const DecodedPacket &packet);

    /// Takes one event of a packet.
    void event(const TimeOrder::Packet &packet, const Event &event) {
        if (!events_.empty() && events_.front().second->ts != event.ts)
            flush();
        events_.emplace_back(packet, &event);
    }

    /// Hands out what has been kept back. `loss`: what the end of the file says that each CPU has
    /// lost; may be empty.
    void finish(const std::map<std::uint32_t, std::uint64_t> &loss);

private:
    struct Cpu {
        bool seen = false;
        std::uint64_t base = 0;  // lost before the recording began
        std::uint64_t known = 0; // since then
    };

    void flush();
    void note_lost(std::uint32_t cpu, std::uint64_t ts, std::uint64_t lost);

    Exporter &exporter_;
    std::vector<std::pair<TimeOrder::Packet, const Event *>> events_; // of one moment
    std::map<std::uint32_t, Cpu> cpus_;
    std::multimap<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>>
        losses_; // by time: CPU and calls
    std::uint64_t last_ = 0;
};

} // namespace argtrace
