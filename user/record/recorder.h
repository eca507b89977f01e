// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "file/writer.h"
#include "record/code_addresses.h"
#include "record/metadata_writer.h"
#include "session/ring_round.h"

namespace argtrace {

/// Copies the packets of a session's rings to a file as they are, with what is needed to read
/// them: the probes, and the symbols of the code addresses in them.
class Recorder {
public:
    /// The arguments must outlive the recorder.
    Recorder(std::span<const RingView> rings, std::uint32_t format, MetadataWriter::Probes probes,
             const Symbols &symbols, TraceWriter &writer);

    /// Copies these rings too, from the next round on: those of CPUs that have come.
    void add(std::span<const RingView> rings);

    /// A round, `now` being the clock of the events, read before this call: packets that are
    /// complete go to the file, and what there is of the newest ones when that is due. False when
    /// there was nothing.
    bool collect(std::uint64_t now);

    /// The last round: everything.
    void collect_rest();

    /// Calls that have not returned, as the module lists them; behind what collect() has found by then, and
    /// before what it has not.
    void running(const argtrace_in_flight &head, std::span<const argtrace_in_flight_call> calls);

    /// When there should be a round even if nothing comes: the newest packets' records are due
    /// then, or the mark that lets a reader show what has been written.
    std::optional<std::uint64_t> due() const;

    /// The largest share of a ring (0 to 1) that the last round found occupied.
    double pressure() const { return pressure_; }

    /// Records lost to full rings since this object was made.
    std::uint64_t lost() const;
    std::vector<CpuLoss> loss() const;

private:
    struct Stream : CpuStream {
        explicit Stream(const RingView &ring);

        RingView view;
        std::uint64_t position = 0;  // what is before it is in the file,
        std::uint64_t released;      // and this has been given back
        std::uint32_t first = 0;     // records before that in the first packet are not ours
        std::uint64_t part_time = 0; // when a part of a packet was last written
        bool waiting = false;        // there is a part that is not due
    };

    struct Piece {
        Stream *stream;
        PacketBytes bytes;
        std::uint64_t clock; // no record in it is older
        std::uint64_t end;   // position behind it
    };

    bool round(std::uint64_t now, bool last);
    bool look(Stream &stream, const RingReader::Glance &glance, std::uint64_t now, bool last,
              std::vector<Piece> &pieces);
    void write(std::vector<Piece> &pieces, std::uint64_t limit);
    void write(const Piece &piece);
    void mark(std::uint64_t time);
    void flush();

    TraceWriter &writer_;
    MetadataWriter metadata_;
    std::vector<Stream> streams_;
    std::uint64_t marked_ = 0;
    std::uint64_t owed_ = 0; // a mark that late is to come; 0: none
    double pressure_ = 0;
};

} // namespace argtrace
