// SPDX-License-Identifier: GPL-2.0-only
#include "session/merge.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace argtrace {

Merge::Merge(std::span<const RingView> rings, Schema &schema, Keep keep)
    : schema_(schema), keep_(keep) {
    streams_.reserve(rings.size());
    for (const RingView &ring : rings)
        streams_.emplace_back(ring);
}

void Merge::add(std::span<const RingView> rings) {
    heap_.clear(); // it points to the streams
    for (const RingView &ring : rings)
        streams_.emplace_back(ring).count_from_start();
}

void Merge::collect(std::uint64_t now) {
    RingRound round(now);
    for (Stream &stream : streams_) {
        const RingReader::Glance glance = round.look(stream.reader);
        if (glance.idle)
            stream.safe = now;
        round.note(stream);
        drain(stream, glance.head);
    }
    pressure_ = round.pressure();
    limit_ = round.limit();
    rebuild_heap();
}

void Merge::collect_rest() {
    // First all the heads: events that come while we drain would make it endless.
    RingRound round(std::numeric_limits<std::uint64_t>::max());
    std::vector<std::uint64_t> heads;
    for (const Stream &stream : streams_)
        heads.push_back(round.look(stream.reader).head);
    for (std::size_t i = 0; i < streams_.size(); ++i)
        drain(streams_[i], heads[i]);
    limit_ = std::numeric_limits<std::uint64_t>::max();
    rebuild_heap();
}

std::optional<EventView> Merge::next() {
    if (heap_.empty() || heap_.front().time >= limit_)
        return std::nullopt;
    Stream &stream = *heap_.front().source;
    const Event &event = stream.batch.events[stream.next++];
    const Event *following = stream.batch.events.data() + stream.next;
    if (following != std::to_address(stream.batch.events.end())) [[likely]]
        heap_.advance(following->clock);
    else
        heap_.drop();
    return stream.batch.view(event);
}

void Merge::rebuild_heap() {
    heap_.clear();
    for (Stream &stream : streams_) {
        if (stream.next != stream.batch.events.size())
            heap_.add(stream.batch.events[stream.next].clock, stream.reader.cpu(), stream);
    }
    heap_.order();
}

void Merge::drain(Stream &stream, std::uint64_t head) {
    stream.drain(head, schema_);
    if (keep_ == Keep::nothing)
        stream.reader.release(stream.reader.position());
}

void Merge::release() {
    if (keep_ == Keep::nothing)
        return;
    for (Stream &stream : streams_)
        stream.reader.release(stream.consumed());
}

std::uint64_t Merge::lost() const {
    std::uint64_t sum = 0;
    for (const Stream &stream : streams_)
        sum += stream.lost();
    return sum;
}

Unreadable Merge::unreadable() const {
    Unreadable sum;
    for (const Stream &stream : streams_) {
        const Unreadable &one = stream.reader.unreadable();
        sum.records += one.records;
        sum.packets += one.packets;
        if (one.why != DecodeStatus::ok)
            sum.why = one.why;
    }
    return sum;
}

/// Forgets the events that have been handed out.
void Merge::Stream::compact() {
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

void Merge::Stream::drain(std::uint64_t head, Schema &schema) {
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
std::uint64_t Merge::Stream::consumed() const {
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
