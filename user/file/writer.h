// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/uio.h>
#include <vector>

#include "file/compression.h"
#include "file/format.h"
#include "file/info.h"
#include "file/trace_target.h"
#include "model/probe.h"
#include "util/fd.h"

namespace argtrace {

/// Bytes of a packet on their way to a file.
struct PacketBytes {
    std::uint32_t cpu = 0;
    std::uint64_t seq = 0;
    std::uint32_t start = 0;          ///< where in the packet they lie
    std::uint32_t first = 0;          ///< records before this offset are not wanted
    bool whole = true;                ///< from the packet's header to the end of its last record
    std::span<const std::byte> bytes; ///< up to the end of a record
};

/// Writes a trace file: a packet as it lies in the ring, nothing decoded. Chunks gather until
/// flush() writes them in one go.
///
/// The order: info(), then probes() and symbols() before the packets that need them, marks between
/// packets, running() before the last ones, counts(), loss() and span() at the end, and end().
///
/// flush() throws Error when it fails; what it has written by then can be read.
class TraceWriter {
public:
    /// With `level` packets are compressed. A target that is not kept yet is once a packet has been
    /// written to it.
    explicit TraceWriter(TraceTarget target, std::optional<int> level = std::nullopt);

    /// To a file that is open; `name` is for the user.
    TraceWriter(Fd file, std::string name, std::optional<int> level = std::nullopt)
        : TraceWriter(TraceTarget(std::move(file), std::move(name)), level) {}

    void info(const TraceInfo &info);
    void probes(std::span<const Probe> probes);

    /// Lines as `nm -S` prints them.
    void symbols(std::string_view lines);

    /// As the chunk has them; nothing where there is none.
    void stacks(std::span<const std::uint64_t> words);

    /// Lines as these chunks have them.
    void objects(std::string_view lines);
    void places(std::string_view lines);

    /// The bytes must stay as they are until they have been flushed, unless they are compressed.
    void packet(const PacketBytes &packet);

    /// Every event that is older than `time` (ns) has been given to packet().
    void mark(std::uint64_t time);

    void counts(std::span<const argtrace_counts> counts);
    void loss(std::span<const CpuLoss> loss);

    /// As the module lists them, at that moment; nothing where there are none. Before the packets with records of those that return meanwhile.
    void running(const argtrace_in_flight &moment, std::span<const argtrace_in_flight_call> calls);
    void span(const RecordedSpan &span);
    void end();

    void flush();

    /// Whether as much waits for flush() as is worth a write, and little enough that a ring gets
    /// its space back soon.
    bool is_full() const { return queued_ - written_ >= write_size; }

    /// Bytes written to the file.
    std::uint64_t written() const { return written_; }

    std::uint64_t packets() const { return packets_; }

    TraceTarget &target() { return target_; }
    const std::string &name() const { return target_.name(); }
    int fd() const { return target_.fd(); }

private:
    using Bytes = std::span<const std::byte>;

    static constexpr std::uint64_t write_size = 1 << 20;

    void chunk(ChunkType type, Bytes payload);
    void queue_chunk(ChunkType type, std::uint32_t flags, std::vector<std::byte> front, Bytes rest);
    void queue(Bytes bytes);

    TraceTarget target_;
    std::optional<Compressor> compressor_;
    std::deque<std::vector<std::byte>> owned_; // of what is queued
    std::vector<iovec> pieces_;
    std::uint64_t queued_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t packets_ = 0;
};

/// Where `record` writes and `report` reads when no file is named.
inline constexpr const char *default_trace_file = "argtrace.dat";

/// How a sentence calls a file, "-" among them.
std::string trace_name(const std::string &path, bool reading);

} // namespace argtrace
