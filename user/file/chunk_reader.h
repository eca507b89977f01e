// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "file/format.h"
#include "file/status.h"
#include "util/uninitialized.h"

namespace argtrace {

/// One chunk as it lies in the file: its header is sound, its payload not looked at yet.
struct Chunk {
    ChunkHeader header{};
    std::uint64_t offset = 0; ///< in the file
    RawBytes payload;

    ChunkType type() const { return static_cast<ChunkType>(header.type); }
};

/// A payload, checked and unpacked.
struct Payload {
    FileStatus status = FileStatus::ok;
    std::span<const std::byte> front; ///< what is never compressed
    std::span<const std::byte> bytes; ///< the rest
    RawBytes unpacked;                ///< where that lies if it was compressed
};

/// The first `front` bytes of a payload are never compressed. Valid as long as the chunk is.
Payload unpack(const Chunk &chunk, std::size_t front = 0, std::size_t limit = file_payload_max);

/// Goes through a file or a stream from chunk to chunk, reading ahead a little.
class ChunkReader {
public:
    /// The descriptor stays the caller's.
    explicit ChunkReader(int fd) : fd_(fd) {}

    /// Reads the file's header. Anything but ok: it cannot be read at all.
    FileStatus open();

    /// The next chunk, or false at the end: of the file (ok), or of what can be read of it.
    bool next(Chunk &chunk);

    /// Why next() came to an end.
    FileStatus status() const { return status_; }

    /// The errno of cannot_read.
    int error() const { return error_; }

    /// Bytes of the file that have been gone through.
    std::uint64_t offset() const { return offset_; }

    /// Whether next() would have to wait for the writer of the stream.
    bool would_wait() const;

    /// What the file says it is.
    std::uint32_t version() const { return version_; }

private:
    std::size_t read(std::byte *to, std::size_t size);
    std::size_t read_some(std::byte *to, std::size_t size);

    int fd_;
    // What is longer is read to where it belongs at once.
    std::array<std::byte, 4096> buffer_;
    std::size_t begin_ = 0; // of what is in the buffer and has not been taken
    std::size_t end_ = 0;
    std::uint64_t offset_ = 0;
    std::uint32_t version_ = 0;
    FileStatus status_ = FileStatus::ok;
    int error_ = 0;
};

} // namespace argtrace
