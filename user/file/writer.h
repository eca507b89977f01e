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
/// packets, counts() and loss() at the end, and end().
///
/// flush() throws Error when it fails; what it has written by then can be read.
class TraceWriter {
public:
    /// Where to write: `file` is open, `name` is for the user. With `level` packets are compressed.
    TraceWriter(Fd file, std::string name, std::optional<int> level = std::nullopt);

    void info(const TraceInfo &info);
    void probes(std::span<const Probe> probes);

    /// Lines as `nm -S` prints them.
    void symbols(std::string_view lines);

    /// The bytes must stay as they are until they have been flushed, unless they are compressed.
    void packet(const PacketBytes &packet);

    /// Every event that is older than `time` (ns) has been given to packet().
    void mark(std::uint64_t time);

    void counts(std::span<const argtrace_counts> counts);
    void loss(std::span<const CpuLoss> loss);
    void end();

    void flush();

    /// Whether as much waits for flush() as is worth a write, and little enough that a ring gets
    /// its space back soon.
    bool is_full() const { return queued_ - written_ >= write_size; }

    /// Bytes written to the file.
    std::uint64_t written() const { return written_; }

    std::uint64_t packets() const { return packets_; }

    const std::string &name() const { return name_; }
    int fd() const { return file_.get(); }

private:
    using Bytes = std::span<const std::byte>;

    static constexpr std::uint64_t write_size = 1 << 20;

    void chunk(ChunkType type, Bytes payload);
    void queue_chunk(ChunkType type, std::uint32_t flags, std::vector<std::byte> front, Bytes rest);
    void queue(Bytes bytes);

    Fd file_;
    std::string name_;
    std::optional<Compressor> compressor_;
    std::deque<std::vector<std::byte>> owned_; // of what is queued
    std::vector<iovec> pieces_;
    std::uint64_t queued_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t packets_ = 0;
};

/// Opens `path` to write a trace to it, emptied; "-" is stdout, which must not be a terminal.
/// Throws Error.
Fd open_trace_to_write(const std::string &path);

/// How a sentence calls it.
std::string trace_name(const std::string &path, bool reading);

} // namespace argtrace
