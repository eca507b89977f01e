// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "file/chunk_reader.h"
#include "file/info.h"
#include "file/writer.h"
#include "model/probe.h"

namespace argtrace::bench {

/// A recording of calls of one function, in memory, which can be written again and again, each time
/// as if it went on later.
class Recording {
public:
    explicit Recording(const std::string &path);

    /// Writes it so often that there are at least so many events. Returns how many there are.
    std::uint64_t write(TraceWriter &writer, std::uint64_t events);

private:
    struct Item {
        PacketPrefix prefix{};
        bool whole = true;
        std::vector<std::byte> bytes; ///< of a packet; none: a mark
        std::uint64_t mark = 0;
    };

    /// What is added to times so that a copy of all of it follows the one before.
    struct Shift {
        std::uint64_t clock = 0; ///< a multiple of 2^32: records hold the lower half
        std::uint64_t ns = 0;
    };

    void take(const Chunk &chunk);
    void look_through(const Item &item);
    Item later(const Item &item, std::uint64_t copy) const;

    TraceInfo info_;
    std::vector<Probe> probes_;
    std::string symbols_;
    std::vector<Item> items_;
    Shift shift_;
    std::uint64_t events_ = 0;
    std::uint64_t packets_ = 0; ///< of a CPU, at most
    std::uint64_t first_ = 0;   ///< clock, of the first packet
    std::uint64_t last_ = 0;
};

} // namespace argtrace::bench
