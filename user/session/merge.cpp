// SPDX-License-Identifier: GPL-2.0-only
#include "session/merge.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "util/heap.h"

namespace argtrace {

namespace {

// A writer raises `active` before it reads the clock (argtrace_ring_begin() in kmod/sink/ring.h), but
// its store reaches us a little later: an event may be older than the watermark by that much.
constexpr std::uint64_t slack = ARGTRACE_CLOCK_SLACK;

// A writer is done within a microsecond or so: it is worth looking again.
constexpr int looks = 32;

} // namespace

Merge::Merge(std::span<const RingView> rings, Schema &schema, Keep keep)
    : schema_(schema), keep_(keep) {
    lanes_.reserve(rings.size());
    for (const RingView &ring : rings)
        lanes_.emplace_back(ring);
}

RingReader::Glance Merge::look(Lane &lane) {
    RingReader::Glance glance = lane.reader.look();
    for (int i = 1; i < looks && !glance.idle; ++i)
        glance = lane.reader.look();
    double occupied = static_cast<double>(lane.reader.unreleased(glance.head));
    pressure_ = std::max(pressure_, occupied / static_cast<double>(lane.reader.size()));
    return glance;
}

void Merge::collect(std::uint64_t now) {
    std::uint64_t least = now;
    pressure_ = 0;
    for (Lane &lane : lanes_) {
        RingReader::Glance glance = look(lane);
        if (glance.idle)
            lane.watermark = now;
        least = std::min(least, lane.watermark);
        drain(lane, glance.head);
    }
    limit_ = least > slack ? least - slack : 0;
    rebuild_heap();
}

void Merge::collect_rest() {
    // First all the heads: events that come while we drain would make it endless.
    std::vector<std::uint64_t> heads;
    for (Lane &lane : lanes_)
        heads.push_back(look(lane).head);
    for (std::size_t i = 0; i < lanes_.size(); ++i)
        drain(lanes_[i], heads[i]);
    limit_ = std::numeric_limits<std::uint64_t>::max();
    rebuild_heap();
}

std::optional<EventView> Merge::next() {
    if (heap_.empty() || heap_.front().clock >= limit_)
        return std::nullopt;
    Lane &lane = lanes_[heap_.front().lane];
    const Event &event = lane.batch.events[lane.next++];
    advance_front(lane);
    return lane.batch.view(event);
}

void Merge::rebuild_heap() {
    heap_.clear();
    for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
        const Lane &lane = lanes_[i];
        if (lane.next != lane.batch.events.size())
            heap_.push_back({lane.batch.events[lane.next].clock, i});
    }
    std::make_heap(heap_.begin(), heap_.end(), Later());
}

/// Puts the next event of the front's lane where it belongs in the heap; often that is the
/// front again.
void Merge::advance_front(const Lane &lane) {
    const Event *next = lane.batch.events.data() + lane.next;
    if (next != std::to_address(lane.batch.events.end())) [[likely]]
        replace_heap_front(heap_, {next->clock, heap_.front().lane}, Later());
    else
        drop_heap_front(heap_, Later());
}

void Merge::drain(Lane &lane, std::uint64_t head) {
    lane.drain(head, schema_);
    if (keep_ == Keep::nothing)
        lane.reader.release(lane.reader.position());
}

void Merge::release() {
    if (keep_ == Keep::nothing)
        return;
    for (Lane &lane : lanes_)
        lane.reader.release(lane.consumed());
}

std::uint64_t Merge::lost() const {
    std::uint64_t sum = 0;
    for (const Lane &lane : lanes_)
        sum += lane.reader.lost() - lane.lost_before;
    return sum;
}

Unreadable Merge::unreadable() const {
    Unreadable sum;
    for (const Lane &lane : lanes_) {
        const Unreadable &one = lane.reader.unreadable();
        sum.records += one.records;
        sum.packets += one.packets;
        if (one.why != DecodeStatus::ok)
            sum.why = one.why;
    }
    return sum;
}

/// Forgets the events that have been handed out.
void Merge::Lane::compact() {
    if (next == 0)
        return;
    spare.clear();
    for (std::size_t i = next; i < batch.events.size(); ++i)
        spare.append(batch, batch.events[i]);
    std::swap(batch, spare);
    next = 0;
    if (batch.events.empty())
        reordered = false;
}

void Merge::Lane::drain(std::uint64_t head, Schema &schema) {
    compact();
    reader.drain(head, schema, batch);
    // Times do not decrease along a ring, unless the clock itself stepped back.
    auto older = [](const Event &a, const Event &b) { return a.clock < b.clock; };
    if (!std::is_sorted(batch.events.begin(), batch.events.end(), older)) {
        std::stable_sort(batch.events.begin(), batch.events.end(), older);
        reordered = true;
    }
}

/// The position before which all events have been handed out.
std::uint64_t Merge::Lane::consumed() const {
    if (next == batch.events.size())
        return reader.position();
    if (!reordered)
        return batch.events[next].position;
    auto nearer = [](const Event &a, const Event &b) { return a.position < b.position; };
    return std::min_element(batch.events.begin() + static_cast<std::ptrdiff_t>(next),
                            batch.events.end(), nearer)
        ->position;
}

} // namespace argtrace
