// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "decode/decode.h"
#include "decode/unreadable.h"
#include "file/chunk_reader.h"
#include "model/code_naming.h"
#include "render/renderer.h"
#include "report/event_filter.h"

namespace argtrace {

/// What has become of a packet chunk.
struct DecodedPacket {
    FileStatus status = FileStatus::ok; ///< of the chunk
    std::uint32_t cpu = 0;
    std::uint64_t seq = 0;
    std::optional<std::uint64_t> lost; ///< argtrace_packet.lost, where its header was there
    EventBatch batch;                  ///< the events that are wanted, in the order of time
    std::uint64_t decoded = 0;         ///< events, before the filter
    std::uint64_t time = 0;            ///< ns, of the first of them; 0 without any
    Unreadable unreadable;
    std::unordered_map<const Probe *, std::uint64_t> calls; ///< of the wanted events, where they
                                                            ///< themselves are not wanted
    std::uint64_t first = 0;                                ///< ns, of these calls
    std::uint64_t last = 0;
    Widths widths;              ///< of these events
    std::uint64_t shown_in = 0; ///< the last block of BlockWriter with events of it
};

/// What is wanted of packets.
struct DecodeJob {
    const Schema *schema = nullptr; ///< stays as it is meanwhile
    const EventFilter *filter = nullptr;
    bool events = true; ///< else the counts in DecodedPacket::calls alone
    bool widths = false;
    CodeNaming naming = {}; ///< of places in user code
    bool shared = false; ///< calls with the same arguments are to share their values
};

/// Reads a chunk that holds a packet from its beginning to its end.
DecodedPacket decode_packet(const Chunk &chunk, const DecodeJob &job);

/// Reads the parts of one CPU's packets, one after the other.
class PartDecoder {
public:
    DecodedPacket decode(const Chunk &chunk, const DecodeJob &job);

    /// What comes next belongs to no part before it.
    void forget() { capacity_ = 0; }

private:
    struct Free {
        void operator()(std::byte *bytes) const;
    };

    FileStatus take(const PacketPrefix &prefix, std::span<const std::byte> bytes);

    std::unique_ptr<std::byte[], Free>
        bytes_;                // of the packet; pages that nobody writes cost nothing
    std::size_t capacity_ = 0; // its size; 0: there is none
    std::size_t filled_ = 0;
    std::uint64_t seq_ = 0;
    DecodeStatus opened_ = DecodeStatus::ok;
    Decoder decoder_;
};

} // namespace argtrace
