// SPDX-License-Identifier: GPL-2.0-only
#include "report/export_feed.h"

#include <algorithm>

namespace argtrace {

namespace {

/// How long it takes, with none for a call without a duration.
std::uint64_t length(const Event &event) {
    return event.has_duration() ? event.duration : 0;
}

bool comes_before(const EventBlock::Entry &a, const EventBlock::Entry &b) {
    return a.event->ts != b.event->ts ? a.event->ts < b.event->ts
                                      : length(*a.event) > length(*b.event);
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

/// Puts a call that began before others, as it has made them or runs on another CPU, in its place, which
/// mostly is not far from the end.
void ExportFeed::insert(EventBlock::Entry entry) {
    std::vector<EventBlock::Entry> &events = block_.events;
    std::size_t step = 1;
    while (step < events.size() && comes_before(entry, events[events.size() - step]))
        step *= 2;
    const auto first = events.end() - static_cast<std::ptrdiff_t>(std::min(step, events.size()));
    events.insert(std::upper_bound(first, events.end(), entry, comes_before), entry);
}

void ExportFeed::flush() {
    EventBlock block = std::exchange(block_, {});
    block_.events.reserve(block_size_);
    ++block_number_;
    while (!losses_.empty() && !block.events.empty() && losses_.begin()->first <= last_) {
        const auto [ts, loss] = *losses_.begin();
        losses_.erase(losses_.begin());
        const auto after = std::lower_bound(
            block.events.begin(), block.events.end(), ts,
            [](const EventBlock::Entry &entry, std::uint64_t time) { return entry.event->ts < time; });
        if (after != block.events.begin())
            exporter_.take({{block.events.begin(), after}, block.batches});
        block.events.erase(block.events.begin(), after);
        exporter_.lost(loss.first, ts, loss.second);
    }
    if (!block.events.empty())
        exporter_.take(std::move(block));
}

/// In the order of their beginnings; those of a task come with the outermost first already.
void ExportFeed::give_running(const EventBatch &running) {
    if (running.events.empty())
        return;
    EventBlock block;
    for (const Event &event : running.events)
        block.events.push_back({&running, &event});
    std::stable_sort(block.events.begin(), block.events.end(),
                     [](const auto &a, const auto &b) { return a.event->ts < b.event->ts; });
    exporter_.take(std::move(block));
}

void ExportFeed::finish(const std::map<std::uint32_t, std::uint64_t> &loss, const EventBatch &running) {
    flush();
    give_running(running);
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
