// SPDX-License-Identifier: GPL-2.0-only
#include "file/chunk_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

#include "file/compression.h"

namespace argtrace {

namespace {

// A length is not believed further than there are bytes to show for it. More than chunks have: what vectors of RawBytes are moved by when they grow
// is a loop, and memory that is not written to costs nothing.
constexpr std::size_t grow_at_once = 64 << 20;

} // namespace

Payload unpack(const Chunk &chunk, std::size_t front, std::size_t limit) {
    Payload payload;
    const std::span<const std::byte> whole = chunk.payload;
    payload.front = whole.first(std::min(front, whole.size()));
    payload.bytes = whole.subspan(payload.front.size());
    if (file_checksum(whole) != chunk.header.payload_sum) {
        payload.status = FileStatus::bad_checksum;
    } else if (chunk.header.flags & ~chunk_flags_known) {
        payload.status = FileStatus::unknown_flags;
    } else if (chunk.header.flags & chunk_zstd) {
        if (auto unpacked = decompress(payload.bytes, limit)) {
            payload.unpacked = std::move(*unpacked);
            payload.bytes = payload.unpacked;
        } else {
            payload.status = FileStatus::bad_compression;
        }
    } else if (payload.bytes.size() > limit) {
        payload.status = FileStatus::payload_too_large;
    }
    return payload;
}

/// As much as there is just now; 0 at the end.
std::size_t ChunkReader::read_some(std::byte *to, std::size_t size) {
    for (;;) {
        const ssize_t got = ::read(fd_, to, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN) {
            pollfd readable{fd_, POLLIN, 0};
            ::poll(&readable, 1, -1);
            continue;
        }
        if (got < 0)
            error_ = errno;
        return got > 0 ? static_cast<std::size_t>(got) : 0;
    }
}

/// As much of `size` as there is.
std::size_t ChunkReader::read(std::byte *to, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
        const std::size_t left = size - done;
        if (begin_ == end_ && left >= buffer_.size()) {
            const std::size_t got = read_some(to + done, left);
            if (got == 0)
                break;
            done += got;
            continue;
        }
        if (begin_ == end_) {
            begin_ = 0;
            end_ = read_some(buffer_.data(), buffer_.size());
            if (end_ == 0)
                break;
        }
        const std::size_t taken = std::min(left, end_ - begin_);
        std::memcpy(to + done, &buffer_[begin_], taken);
        begin_ += taken;
        done += taken;
    }
    offset_ += done;
    return done;
}

FileStatus ChunkReader::open() {
    FileHeader header;
    std::byte raw[sizeof(header)];
    const std::size_t got = read(raw, sizeof(raw));
    std::memcpy(&header, raw, got);
    if (error_ != 0)
        return status_ = FileStatus::cannot_read;
    if (got == 0)
        return status_ = FileStatus::empty;
    if (std::memcmp(raw, file_magic.data(), std::min(got, file_magic.size())) != 0)
        return status_ = FileStatus::not_a_trace;
    if (got < sizeof(header))
        return status_ = FileStatus::cut_short;
    version_ = header.version;
    if (header.version != file_version)
        return status_ = FileStatus::unsupported_version;
    if (header.reserved != 0)
        return status_ = FileStatus::bad_file_header;
    return FileStatus::ok;
}

bool ChunkReader::next(Chunk &chunk) {
    if (status_ != FileStatus::ok)
        return false;
    chunk.offset = offset_;
    const std::size_t got =
        read(reinterpret_cast<std::byte *>(&chunk.header), sizeof(chunk.header));
    if (got == sizeof(chunk.header)) {
        if (header_checksum(chunk.header) != chunk.header.header_sum) {
            status_ = FileStatus::bad_chunk_header;
            return false;
        }
        chunk.payload.clear();
        std::uint64_t left = chunk.header.length;
        while (left > 0) {
            const std::size_t before = chunk.payload.size();
            const std::size_t wanted = std::min<std::uint64_t>(left, grow_at_once);
            chunk.payload.resize(before + wanted);
            if (read(&chunk.payload[before], wanted) < wanted)
                break;
            left -= wanted;
        }
        if (left == 0)
            return true;
        status_ = FileStatus::cut_short;
    } else if (got > 0) {
        status_ = FileStatus::cut_short;
    }
    if (error_ != 0)
        status_ = FileStatus::cannot_read;
    return false;
}

bool ChunkReader::would_wait() const {
    if (begin_ != end_)
        return false; // of a chunk that has begun the rest comes soon
    pollfd readable{fd_, POLLIN, 0};
    return ::poll(&readable, 1, 0) == 0;
}

} // namespace argtrace
