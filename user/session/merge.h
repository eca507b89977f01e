// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "session/ring_round.h"
#include "util/merge_heap.h"

namespace argtrace {

/// The rings of all CPUs as one stream in the order of time.
///
/// Live, it goes in rounds. The caller reads the clock, then collect() looks at every CPU:
/// where no writer is at work, everything older than that clock has been seen. What is older
/// than the least of what the CPUs vouch for cannot be overtaken any more: next() hands it
/// out; the rest waits for a later round. Events of the same time go by CPU.
///
/// With Keep::unseen the space of an event in its ring is given back by release(), after next()
/// has handed it out: what this reader has not come to is still there for the one after it.
/// With Keep::nothing it is given back as soon as it has been read, so that the ring has room
/// for more.
class Merge {
public:
    enum class Keep { unseen, nothing };

    Merge(std::span<const RingView> rings, Schema &schema, Keep keep = Keep::unseen);

    /// Reads these rings too, from the next round on: those of CPUs that have come. What the last
    /// round has left is handed out by the next one.
    void add(std::span<const RingView> rings);

    /// A round; `now` is the session's clock, read before this call.
    void collect(std::uint64_t now);

    /// The last round: everything that is complete now, with nothing held back.
    void collect_rest();

    /// The next event, or nothing when the rest has to wait. It is valid until the next round.
    std::optional<EventView> next();

    /// Frees the space of all events that next() has returned, if it is still kept.
    void release();

    /// Events are held back.
    bool waiting() const { return !heap_.empty(); }

    /// The largest share of a ring (0 to 1) that the last round found occupied.
    double pressure() const { return pressure_; }

    /// Records lost to full rings since this object was made.
    std::uint64_t lost() const;

    Unreadable unreadable() const;

private:
    /// One CPU: its events in the order of time, those before `next` handed out.
    struct Stream : CpuStream {
        using CpuStream::CpuStream;

        EventBatch batch;
        EventBatch spare; // what batch was before the last compaction: keeps its memory
        std::size_t next = 0;
        bool reordered = false; // the batch is not in the order of the ring

        void compact();
        void drain(std::uint64_t head, Schema &schema);
        std::uint64_t consumed() const;
    };

    void drain(Stream &stream, std::uint64_t head);
    void rebuild_heap();

    Schema &schema_;
    Keep keep_;
    std::vector<Stream> streams_;
    MergeHeap<Stream> heap_;  // of those with events to hand out
    std::uint64_t limit_ = 0; // events of an older clock may go out
    double pressure_ = 0;
};

} // namespace argtrace
