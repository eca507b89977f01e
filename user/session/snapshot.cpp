// SPDX-License-Identifier: GPL-2.0-only
#include "session/snapshot.h"

#include <algorithm>
#include <cstring>

#include "session/packet_copy.h"

namespace argtrace {

RingSnapshot::RingSnapshot(const RingView &ring) : ring_(ring) {
    // Pairs with the release in argtrace_ring_end() in kmod/sink/ring.h: what lies before it is
    // complete.
    head_ = __atomic_load_n(&ring_.control->head, __ATOMIC_ACQUIRE);
}

void RingSnapshot::copy() {
    if (head_ == 0)
        return;
    std::uint64_t newest = (head_ - 1) / ring_.packet_size;
    std::uint64_t count = std::min<std::uint64_t>(newest + 1, ring_.nr_packets);
    // Not initialized: pages that nothing is copied to are never there.
    memory_ = std::make_unique_for_overwrite<std::byte[]>(count * ring_.packet_size);
    packets_.reserve(count);
    for (std::uint64_t seq = newest + 1 - count; seq <= newest; ++seq)
        copy_packet(seq, {&memory_[packets_.size() * ring_.packet_size], ring_.packet_size});
}

/// Appends the packet, or counts it as missed.
void RingSnapshot::copy_packet(std::uint64_t seq, std::span<std::byte> to) {
    PacketCopy packet(ring_, seq);
    std::uint64_t before_head = head_ - seq * ring_.packet_size;
    bool closed = before_head > ring_.packet_size;
    std::uint64_t used = closed ? packet.used() : before_head;
    // Whatever it says once the packet is gone.
    used = std::clamp<std::uint64_t>(used & ~std::uint64_t{7}, sizeof(argtrace_packet),
                                     ring_.packet_size);
    packet.copy(0, to.first(used));
    if (!packet.intact()) {
        ++missed_;
        return;
    }
    // It may have been open, or have been closed behind our head.
    auto word = static_cast<std::uint32_t>(used);
    std::memcpy(&to[offsetof(argtrace_packet, used)], &word, sizeof(word));
    packets_.push_back({seq, to.first(used)});
}

std::vector<RingSnapshot> take_snapshot(std::span<const RingView> rings) {
    std::vector<RingSnapshot> snapshots;
    snapshots.reserve(rings.size());
    for (const RingView &ring : rings)
        snapshots.emplace_back(ring);
    for (RingSnapshot &snapshot : snapshots)
        snapshot.copy();
    return snapshots;
}

} // namespace argtrace
