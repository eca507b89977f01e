// SPDX-License-Identifier: GPL-2.0-only
#include "session/ring_reader.h"

#include <algorithm>

namespace argtrace {

namespace {

/// The start of the oldest packet that the kernel cannot be writing to.
std::uint64_t oldest_whole_packet(const RingView &ring, std::uint64_t head) {
    std::uint64_t newest = head == 0 ? 0 : (head - 1) / ring.packet_size;
    std::uint64_t behind = ring.nr_packets - 1;
    return newest < behind ? 0 : (newest - behind) * ring.packet_size;
}

} // namespace

RingReader::RingReader(const RingView &ring) : ring_(ring) {
    std::uint64_t head = look().head;
    tail_ = __atomic_load_n(&ring_.reader->tail, __ATOMIC_RELAXED);
    if (tail_ > head || head - tail_ > size())
        release(oldest_whole_packet(ring_, head));
    position_ = tail_;
    first_ = position_ % ring_.packet_size;
}

RingReader::Glance RingReader::look() const {
    // With argtrace_ring_end() in kmod/sink/ring.h, steps E to G: a reader that sees active == 0
    // sees the head that was published before, and what is reserved beyond it by a writer that has
    // left publishing to the outermost one.
    std::uint32_t active = __atomic_load_n(&ring_.control->active, __ATOMIC_ACQUIRE);
    std::uint64_t reserve = __atomic_load_n(&ring_.control->reserve, __ATOMIC_ACQUIRE);
    std::uint64_t head = __atomic_load_n(&ring_.control->head, __ATOMIC_ACQUIRE);
    return {active == 0 && reserve <= head, head};
}

std::uint64_t RingReader::lost() const {
    return __atomic_load_n(&ring_.control->lost, __ATOMIC_RELAXED);
}

void RingReader::release(std::uint64_t position) {
    tail_ = position;
    // Release, with the load of the tail in argtrace_ring_reserve_slow() in kmod/sink/ring.c: what
    // we have read of the packets is read before they may be overwritten.
    __atomic_store_n(&ring_.reader->tail, position, __ATOMIC_RELEASE);
}

void RingReader::drain(std::uint64_t head, Schema &schema, EventBatch &out) {
    while (position_ < head) {
        std::uint64_t start = position_ - position_ % ring_.packet_size;
        std::uint64_t end = start + ring_.packet_size;
        bool complete = head >= end;
        if (!opened_)
            open_packet(start);
        if (!abandoned_)
            drain_packet(head > end ? used() : std::min(head, end) - start, schema, out);
        position_ = complete ? end : head;
        if (complete) {
            opened_ = false;
            abandoned_ = false;
            first_ = 0;
        }
    }
}

/// Bytes used of a packet that has been closed, perhaps after we opened it; 0 is nonsense.
std::size_t RingReader::used() const {
    auto packet = reinterpret_cast<const argtrace_packet *>(
        ring_.packets + position_ % size() / ring_.packet_size * ring_.packet_size);
    std::uint32_t used = packet->used;
    return used >= decoder_.header().header && used <= ring_.packet_size ? used : 0;
}

void RingReader::open_packet(std::uint64_t start) {
    std::span<const std::byte> packet(ring_.packets + start % size(), ring_.packet_size);
    DecodeStatus status = decoder_.open(packet);
    if (status == DecodeStatus::ok && decoder_.header().seq != start / ring_.packet_size)
        status = DecodeStatus::bad_sequence;
    if (status == DecodeStatus::ok && decoder_.header().cpu != ring_.cpu)
        status = DecodeStatus::bad_cpu;
    opened_ = true;
    if (status != DecodeStatus::ok)
        abandon_packet(status);
}

void RingReader::drain_packet(std::size_t limit, Schema &schema, EventBatch &out) {
    if (limit == 0)
        return abandon_packet(DecodeStatus::bad_used);
    for (;;) {
        DecodeStatus status = decoder_.decode(limit, first_, schema, out);
        if (status == DecodeStatus::ok)
            return;
        if (status == DecodeStatus::unknown_probe && schema.reload())
            continue;
        if (!decoder_.skip(limit))
            return abandon_packet(status);
        ++unreadable_.records;
        unreadable_.why = status;
    }
}

void RingReader::abandon_packet(DecodeStatus why) {
    abandoned_ = true;
    ++unreadable_.packets;
    unreadable_.why = why;
}

} // namespace argtrace
