// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "session/ring_reader.h"

namespace argtrace {

/// A packet in a snapshot, as it was in the ring up to the end of its last record.
struct SavedPacket {
    std::uint64_t seq = 0;
    std::span<const std::byte> bytes;
};

/// What one CPU's flight recorder held at a moment, copied while it goes on recording. Any number
/// of them may be made, by several processes at once: the ring does not notice.
class RingSnapshot {
public:
    /// Looks how far the ring has come: what is recorded later is not in the snapshot.
    explicit RingSnapshot(const RingView &ring);

    /// Copies the packets, the oldest, which goes next, first.
    void copy();

    std::span<const SavedPacket> packets() const { return packets_; }

    /// Packets that were overwritten before they had been copied.
    std::uint64_t missed() const { return missed_; }

    std::uint32_t cpu() const { return ring_.cpu; }

private:
    void copy_packet(std::uint64_t seq, std::span<std::byte> to);

    RingView ring_;
    std::uint64_t head_;
    std::unique_ptr<std::byte[]> memory_;
    std::vector<SavedPacket> packets_;
    std::uint64_t missed_ = 0;
};

/// Copies the rings of all CPUs as they are at one moment, as far as that is possible: the state of
/// all rings is read before the first is copied.
std::vector<RingSnapshot> take_snapshot(std::span<const RingView> rings);

} // namespace argtrace
