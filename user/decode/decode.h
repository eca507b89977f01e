// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/schema.h"
#include "decode/shared_arguments.h"
#include "decode/status.h"
#include "model/event.h"
#include "uapi/argtrace.h"

namespace argtrace {

/// Reads one packet: bytes in, events out. Knows nothing of rings and files, never reads
/// outside the bytes it is given, whatever they contain.
///
/// The packet may still grow: decode() goes on where it stopped, up to the new limit.
class Decoder {
public:
    /// Starts on the packet that fills `packet`. Its header is checked; what its `used` says is
    /// left to the caller, who knows how far the packet is complete.
    DecodeStatus open(std::span<const std::byte> packet);

    /// The same where `packet` is the beginning of one, as far as it is used.
    DecodeStatus open_cut(std::span<const std::byte> packet);

    /// Decodes the records before `limit` (an offset in the packet, cut to its size) and
    /// appends their events to `out`; those that begin before `first` are followed for what
    /// they say about clock and task, but not appended. `shared`, if any, knows the arguments that `out` has of this packet.
    ///
    /// On anything but ok it stands before the record that is to blame: after UNKNOWN_PROBE
    /// decode() may be tried again with a larger schema; skip() passes over the record.
    DecodeStatus decode(std::size_t limit, std::size_t first, const Schema &schema,
                        EventBatch &out, SharedArguments *shared = nullptr);

    /// Passes over one record. False when its size cannot be believed.
    bool skip(std::size_t limit);

    /// How many records there are from here to `limit`, as far as their sizes can be believed.
    std::size_t count(std::size_t limit) const;

    /// Everything before this offset has been decoded.
    std::size_t offset() const { return offset_; }

    const argtrace_packet &header() const { return header_; }

private:
    DecodeStatus next_record(std::size_t limit, argtrace_record &record) const;
    DecodeStatus special(const argtrace_record &record, std::span<const std::byte> data);
    DecodeStatus call(const argtrace_record &record, std::span<const std::byte> data,
                      const Schema::Entry &known, EventBatch &out, SharedArguments *shared);
    DecodeStatus arguments(const argtrace_record &record, std::span<const std::byte> data, const Schema::Entry &known,
                           EventBatch &out, SharedArguments *shared, Event &event) const;
    DecodeStatus read_arguments(const argtrace_record &record, std::span<const std::byte> data,
                                const Schema::Entry &known, EventBatch &out, bool &has_unread) const;
    DecodeStatus read_values(std::span<const std::byte> data, const Probe &probe,
                             EventBatch &out) const;
    std::uint64_t full_clock(std::uint32_t low) const;
    std::uint64_t nanoseconds(std::uint64_t clock) const;
    std::uint64_t smoothed(std::uint64_t ns) const;
    std::uint64_t duration(std::uint64_t took) const;

    std::span<const std::byte> packet_;
    argtrace_packet header_{};
    std::size_t offset_ = 0;
    argtrace_now anchor_{};    // the last moment of which the packet says the full clock
    std::uint64_t latest_ = 0; // ns of the event before
    argtrace_task task_{};
    std::uint32_t task_tid_ = 0;
    bool task_known_ = false;
};

/// The time (ns, as in Event::end()) before which a packet has no events.
inline std::uint64_t packet_time(const argtrace_packet &packet) {
    return packet.ns;
}

} // namespace argtrace
