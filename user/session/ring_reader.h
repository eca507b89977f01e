// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/decode.h"
#include "decode/unreadable.h"
#include "uapi/argtrace.h"

namespace argtrace {

/// Where one CPU's ring lies in memory: mapped from the module, or made by a test.
struct RingView {
    const argtrace_ring_control *control = nullptr; ///< the kernel writes it
    argtrace_ring_reader *reader = nullptr;         ///< we write it
    const std::byte *packets = nullptr;             ///< packet_size * nr_packets bytes
    std::uint32_t packet_size = 0;
    std::uint32_t nr_packets = 0;
    std::uint32_t cpu = 0;
};

/// Reads one CPU's ring: goes through the packets between its position and a head.
///
/// It begins where the tail stands that the last reader left, but walks from the start of
/// that packet, to learn the clock and the task. A tail that makes no sense is replaced by
/// the oldest packet that is still whole.
///
/// Reading does not free space in the ring: release() does.
class RingReader {
public:
    explicit RingReader(const RingView &ring);

    struct Glance {
        bool idle;          ///< no writer is at work
        std::uint64_t head; ///< everything before it is complete
    };

    /// If `idle`, all records older than a clock that was read before this call lie before `head`.
    Glance look() const;

    /// Appends the events between position() and `head`. Asks the schema to reload when a
    /// probe is unknown.
    void drain(std::uint64_t head, Schema &schema, EventBatch &out);

    /// Everything before it has been drained.
    std::uint64_t position() const { return position_; }

    /// Gives the space before `position` back to the kernel.
    void release(std::uint64_t position);

    /// Bytes of the ring that wait to be released, as of that head.
    std::uint64_t unreleased(std::uint64_t head) const { return head - tail_; }

    std::uint64_t size() const { return std::uint64_t{ring_.packet_size} * ring_.nr_packets; }
    std::uint32_t cpu() const { return ring_.cpu; }

    /// Records lost because this ring was full, since the session was made.
    std::uint64_t lost() const;

    const Unreadable &unreadable() const { return unreadable_; }

private:
    void open_packet(std::uint64_t start);
    std::size_t used() const;
    void drain_packet(std::size_t limit, Schema &schema, EventBatch &out);
    void abandon_packet(DecodeStatus why);

    RingView ring_;
    std::uint64_t tail_ = 0;     // as we last published it
    std::uint64_t position_ = 0; // never before tail_
    Decoder decoder_;
    std::size_t first_ = 0;  // offset in the packet from which on events are wanted
    bool opened_ = false;    // the decoder stands in the packet of position_
    bool abandoned_ = false; // what is left of that packet cannot be read
    Unreadable unreadable_;
};

} // namespace argtrace
