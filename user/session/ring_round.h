// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstdint>

#include "session/ring_reader.h"

namespace argtrace {

/// One CPU's ring, read round after round.
struct CpuStream {
    explicit CpuStream(const RingView &ring) : reader(ring), lost_before_(reader.lost()) {}

    /// Counts all losses of a ring that has come after the others have been looked at.
    void count_from_start() { lost_before_ = 0; }

    /// Records lost because the ring was full, since this object was made.
    std::uint64_t lost() const { return reader.lost() - lost_before_; }

    RingReader reader;
    std::uint64_t safe = 0; ///< all records that are older have been read

private:
    std::uint64_t lost_before_;
};

/// A round over the rings of all CPUs: how full they are, and up to which time no event is missing.
class RingRound {
public:
    /// `now` is the clock of the records, read before the round.
    explicit RingRound(std::uint64_t now) : least_(now) {}

    /// Looks at a ring, repeatedly if a writer is at work.
    RingReader::Glance look(const RingReader &ring);

    /// One of the rings is read as far as its `safe` says.
    void note(const CpuStream &stream) { least_ = std::min(least_, stream.safe); }

    /// What is older than this is not overtaken any more, once note() has been called for all.
    std::uint64_t limit() const;

    /// The largest share of a ring (0 to 1) that look() found occupied.
    double pressure() const { return pressure_; }

private:
    std::uint64_t least_;
    double pressure_ = 0;
};

} // namespace argtrace
