// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "session/ring_reader.h"

namespace argtrace {

/// Copies one packet out of a flight recorder's ring, which may be overwritten meanwhile: what
/// was copied is good only if the packet is still intact() afterwards.
class PacketCopy {
public:
    /// The packet of that number. A head beyond its begin has been read from the ring.
    PacketCopy(const RingView &ring, std::uint64_t seq);

    /// Copies bytes of the packet from `offset` on; both it and their number are multiples of 8.
    void copy(std::size_t offset, std::span<std::byte> to) const;

    /// Bytes used of a packet that has been closed; anything once it is not intact any more.
    std::uint32_t used() const;

    /// Nothing of it had been overwritten when what was copied before this call was copied.
    bool intact() const;

private:
    const std::byte *packet_;
    std::uint64_t seq_;
};

} // namespace argtrace
