// SPDX-License-Identifier: GPL-2.0-only
#include "file/writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>

#include <fmt/format.h>

#include "uapi/probe.h"
#include "util/error.h"

namespace argtrace {

namespace {

using Buffer = std::vector<std::byte>;

constexpr std::size_t pieces_at_once = 512; // below IOV_MAX
constexpr std::size_t worth_compressing = 4096;

void append(Buffer &out, const void *data, std::size_t size) {
    auto bytes = static_cast<const std::byte *>(data);
    out.insert(out.end(), bytes, bytes + size);
}

/// A buffer that begins with room for a chunk's header.
Buffer chunk_buffer() {
    return Buffer(sizeof(ChunkHeader));
}

/// What there is of the file, be it of a recording or a snapshot.
std::string what_is_left(const TraceTarget &target, std::uint64_t written) {
    if (!target.kept())
        return "nothing is kept";
    if (written == 0)
        return "nothing has been written";
    return fmt::format("{} bytes have been written; `argtrace report` reads them up to the last "
                       "whole packet",
                       written);
}

Error cannot_write(const TraceTarget &target, std::uint64_t written, int error) {
    const std::string left = what_is_left(target, written);
    switch (error) {
    case EPIPE:
        return Error(
            fmt::format("{}: nobody reads it any more: {}", target.name(),
                        written == 0 ? left : fmt::format("{} bytes have been written", written)));
    case ENOSPC:
    case EDQUOT:
        return Error(fmt::format("{}: no space left to write to: {}", target.name(), left));
    case EFBIG:
        return Error(fmt::format("{}: it has reached the size that files may have (`ulimit -f`): "
                                 "{}",
                                 target.name(), left));
    default:
        return Error(fmt::format("{}: cannot be written: {}: {}", target.name(),
                                 std::strerror(error), left));
    }
}

} // namespace

TraceWriter::TraceWriter(TraceTarget target, std::optional<int> level)
    : target_(std::move(target)) {
    if (level)
        compressor_.emplace(*level);
    const FileHeader header;
    append(owned_.emplace_back(), &header, sizeof(header));
    queue(owned_.back());
}

void TraceWriter::info(const TraceInfo &info) {
    const std::string text = to_json(info);
    chunk(ChunkType::info, std::as_bytes(std::span(text)));
}

void TraceWriter::probes(std::span<const Probe> probes) {
    Buffer bytes;
    for (const Probe &probe : probes)
        append_schema(bytes, probe);
    if (!probes.empty())
        chunk(ChunkType::probes, bytes);
}

void TraceWriter::symbols(std::string_view lines) {
    if (!lines.empty())
        chunk(ChunkType::symbols, std::as_bytes(std::span(lines)));
}

void TraceWriter::stacks(std::span<const std::uint64_t> words) {
    if (!words.empty())
        chunk(ChunkType::stacks, std::as_bytes(words));
}

void TraceWriter::objects(std::string_view lines) {
    if (!lines.empty())
        chunk(ChunkType::objects, std::as_bytes(std::span(lines)));
}

void TraceWriter::places(std::string_view lines) {
    if (!lines.empty())
        chunk(ChunkType::places, std::as_bytes(std::span(lines)));
}

void TraceWriter::packet(const PacketBytes &packet) {
    PacketPrefix prefix{};
    prefix.seq = packet.seq;
    prefix.cpu = packet.cpu;
    prefix.start = packet.start;
    prefix.first = packet.first;
    prefix.size = static_cast<std::uint32_t>(packet.bytes.size());
    Buffer front = chunk_buffer();
    append(front, &prefix, sizeof(prefix));

    // The newest packet of a ring does not tell yet how much of it is used.
    Bytes rest = packet.bytes;
    argtrace_packet header{};
    if (packet.start == 0 && rest.size() >= sizeof(header)) {
        std::memcpy(&header, rest.data(), sizeof(header));
        header.used = prefix.size;
        append(front, &header, sizeof(header));
        rest = rest.subspan(sizeof(header));
    }

    ++packets_;
    std::uint32_t flags = packet.whole ? 0 : chunk_part;
    if (compressor_) {
        Buffer raw(front.begin() + sizeof(ChunkHeader) + sizeof(prefix), front.end());
        append(raw, rest.data(), rest.size());
        front.resize(sizeof(ChunkHeader) + sizeof(prefix));
        compressor_->append(front, raw);
        rest = {};
        flags |= chunk_zstd;
    }
    queue_chunk(ChunkType::packet, flags, std::move(front), rest);
}

void TraceWriter::mark(std::uint64_t time) {
    chunk(ChunkType::mark, std::as_bytes(std::span(&time, 1)));
}

void TraceWriter::running(const argtrace_in_flight &moment, std::span<const argtrace_in_flight_call> calls) {
    if (calls.empty())
        return;
    const RunningHead head{moment.clock, moment.ns, moment.mult, sizeof(argtrace_in_flight_call)};
    Buffer bytes;
    append(bytes, &head, sizeof(head));
    append(bytes, calls.data(), calls.size_bytes());
    chunk(ChunkType::running, bytes);
}

void TraceWriter::counts(std::span<const argtrace_counts> counts) {
    chunk(ChunkType::counts, std::as_bytes(counts));
}

void TraceWriter::loss(std::span<const CpuLoss> loss) {
    chunk(ChunkType::loss, std::as_bytes(loss));
}

void TraceWriter::span(const RecordedSpan &span) {
    chunk(ChunkType::span, std::as_bytes(std::span(&span, 1)));
}

void TraceWriter::end() {
    const EndOfFile end{packets_, queued_};
    chunk(ChunkType::end, std::as_bytes(std::span(&end, 1)));
}

void TraceWriter::chunk(ChunkType type, Bytes payload) {
    Buffer front = chunk_buffer();
    const bool compress = compressor_ && payload.size() >= worth_compressing;
    if (compress)
        compressor_->append(front, payload);
    else
        append(front, payload.data(), payload.size());
    queue_chunk(type, compress ? chunk_zstd : 0, std::move(front), {});
}

/// `front` has room for the header at its beginning; the payload is what follows there, and `rest`.
void TraceWriter::queue_chunk(ChunkType type, std::uint32_t flags, Buffer front, Bytes rest) {
    Buffer &kept = owned_.emplace_back(std::move(front));
    const Bytes payload = Bytes(kept).subspan(sizeof(ChunkHeader));
    ChunkHeader header{};
    header.type = static_cast<std::uint32_t>(type);
    header.flags = flags;
    header.length = payload.size() + rest.size();
    header.payload_sum = file_checksum(payload, rest);
    header.header_sum = header_checksum(header);
    std::memcpy(kept.data(), &header, sizeof(header));
    queue(kept);
    queue(rest);
}

void TraceWriter::queue(Bytes bytes) {
    if (bytes.empty())
        return;
    pieces_.push_back({const_cast<std::byte *>(bytes.data()), bytes.size()});
    queued_ += bytes.size();
}

void TraceWriter::flush() {
    std::size_t next = 0;
    while (next < pieces_.size()) {
        const std::size_t count = std::min(pieces_.size() - next, pieces_at_once);
        const ssize_t got = ::writev(fd(), &pieces_[next], static_cast<int>(count));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN) {
            pollfd writable{fd(), POLLOUT, 0};
            ::poll(&writable, 1, -1);
            continue;
        }
        if (got < 0) {
            const int error = errno;
            if (packets_ > 0 && !target_.replaces())
                target_.keep(); // a part is more than nothing, if less than an earlier recording
            throw cannot_write(target_, written_, error);
        }
        written_ += static_cast<std::uint64_t>(got);
        for (auto left = static_cast<std::size_t>(got); left > 0;) {
            iovec &piece = pieces_[next];
            const std::size_t taken = std::min(left, piece.iov_len);
            piece.iov_base = static_cast<std::byte *>(piece.iov_base) + taken;
            piece.iov_len -= taken;
            left -= taken;
            next += piece.iov_len == 0;
        }
    }
    pieces_.clear();
    owned_.clear();
    if (packets_ > 0)
        target_.keep();
}

std::string trace_name(const std::string &path, bool reading) {
    return path != "-" ? path : reading ? "standard input" : "standard output";
}

} // namespace argtrace
