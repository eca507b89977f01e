// SPDX-License-Identifier: GPL-2.0-only
#include "session/packet_copy.h"

#include <cstring>

namespace argtrace {

namespace {

std::uint64_t load(const std::byte *from) {
    return __atomic_load_n(reinterpret_cast<const std::uint64_t *>(from), __ATOMIC_RELAXED);
}

} // namespace

PacketCopy::PacketCopy(const RingView &ring, std::uint64_t seq)
    : packet_(ring.packets + seq % ring.nr_packets * ring.packet_size), seq_(seq) {}

void PacketCopy::copy(std::size_t offset, std::span<std::byte> to) const {
    // By words, since the kernel may be writing there: plain loads could be made twice.
    for (std::size_t at = 0; at < to.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t word = load(packet_ + offset + at);
        std::memcpy(to.data() + at, &word, sizeof(word));
    }
}

std::uint32_t PacketCopy::used() const {
    return __atomic_load_n(&reinterpret_cast<const argtrace_packet *>(packet_)->used,
                           __ATOMIC_RELAXED);
}

bool PacketCopy::intact() const {
    // Pairs with the barrier in invalidate_packet() in kmod/sink/ring.c, which stands between the store of
    // seq and all that overwrites the packet: if a load above has seen any of that, this one sees
    // the new seq.
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return load(packet_ + offsetof(argtrace_packet, seq)) == seq_;
}

} // namespace argtrace
