// SPDX-License-Identifier: GPL-2.0-only
#include "report/export_feed.h"

#include <algorithm>

namespace argtrace {

namespace {

/// How long it takes, with none for a call without a duration.
std::uint64_t length(const Event &event) {
    return event.has_duration() ? event.duration : 0;
}

} // namespace

void ExportFeed::packet(const DecodedPacket &packet) {
    if (!packet.lost || packet.time == 0)
        return;
    Cpu &cpu = cpus_[packet.cpu];
    if (!cpu.seen)
        cpu = {true, *packet.lost, 0};
    if (*packet.lost > cpu.base + cpu.known)
        note_lost(packet.cpu, packet.time, *packet.lost - cpu.base);
}

void ExportFeed::note_lost(std::uint32_t cpu, std::uint64_t ts, std::uint64_t lost) {
    losses_.emplace(ts, std::pair(cpu, lost - cpus_[cpu].known));
    cpus_[cpu].known = lost;
}

void ExportFeed::flush() {
    if (events_.empty())
        return;
    const std::uint64_t now = events_.front().second->ts;
    while (!losses_.empty() && losses_.begin()->first <= now) {
        const auto &[ts, loss] = *losses_.begin();
        exporter_.lost(loss.first, ts, loss.second);
        losses_.erase(losses_.begin());
    }
    if (events_.size() > 1)
        std::stable_sort(events_.begin(), events_.end(), [](const auto &a, const auto &b) {
            return length(*a.second) > length(*b.second);
        });
    for (const auto &[packet, event] : events_)
        exporter_.event(packet->batch.view(*event));
    last_ = std::max(last_, now);
    events_.clear();
}

void ExportFeed::finish(const std::map<std::uint32_t, std::uint64_t> &loss) {
    flush();
    for (const auto &[cpu, lost] : loss) {
        if (lost > cpus_[cpu].known)
            note_lost(cpu, last_, lost);
    }
    for (const auto &[ts, one] : losses_)
        exporter_.lost(one.first, ts, one.second);
    losses_.clear();
    exporter_.finish();
}

} // namespace argtrace
