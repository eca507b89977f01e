// SPDX-License-Identifier: GPL-2.0-only
#include "record/recorder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace argtrace {

namespace {

// So much later at most a record is in the file, where it does not fill a packet before.
constexpr std::uint64_t part_period_ns = 100000000;

const argtrace_packet &packet_at(const RingView &ring, std::uint64_t position) {
    const std::uint64_t size = std::uint64_t{ring.packet_size} * ring.nr_packets;
    const std::uint64_t start = position - position % ring.packet_size;
    return *reinterpret_cast<const argtrace_packet *>(ring.packets + start % size);
}

} // namespace

Recorder::Stream::Stream(const RingView &ring)
    : CpuStream(ring), view(ring), released(reader.position()) {
    first = static_cast<std::uint32_t>(released % view.packet_size);
    position = released - first;
}

Recorder::Recorder(std::span<const RingView> rings, std::uint32_t format,
                   MetadataWriter::Probes probes, const Symbols &symbols, TraceWriter &writer)
    : writer_(writer), metadata_(format, std::move(probes), symbols, writer) {
    streams_.reserve(rings.size());
    for (const RingView &ring : rings)
        streams_.emplace_back(ring);
}

void Recorder::add(std::span<const RingView> rings) {
    for (const RingView &ring : rings)
        streams_.emplace_back(ring).count_from_start();
}

bool Recorder::collect(std::uint64_t now) {
    return round(now, false);
}

void Recorder::collect_rest() {
    round(std::numeric_limits<std::uint64_t>::max(), true);
    metadata_.finish();
}

void Recorder::running(const argtrace_in_flight &head, std::span<const argtrace_in_flight_call> calls) {
    if (calls.empty())
        return;
    metadata_.precede(calls);
    writer_.running(head, calls);
}

bool Recorder::round(std::uint64_t now, bool last) {
    RingRound looked(now);
    std::vector<Piece> pieces;
    bool found = false;
    for (Stream &stream : streams_) {
        found |= look(stream, looked.look(stream.reader), now, last, pieces);
        looked.note(stream);
    }
    pressure_ = looked.pressure();
    const std::uint64_t limit = last ? 0 : looked.limit();
    if (!pieces.empty())
        owed_ = now;
    write(pieces, limit);
    if (limit >= owed_)
        owed_ = 0;
    return found;
}

/// Finds what there is to write of one ring. False when nothing has come.
bool Recorder::look(Stream &stream, const RingReader::Glance &glance, std::uint64_t now, bool last,
                    std::vector<Piece> &pieces) {
    const RingView &view = stream.view;
    const bool part_is_due = last || now - stream.part_time >= part_period_ns;
    std::uint64_t clock = stream.safe;
    std::uint64_t position = stream.position;
    stream.waiting = false;
    while (std::max(position, stream.released) < glance.head) {
        const argtrace_packet &packet = packet_at(view, position);
        const std::uint64_t start = position - position % view.packet_size;
        const std::uint64_t end = start + view.packet_size;
        if (position == start)
            clock = std::max(clock, packet_time(packet));
        const bool complete = glance.head >= end;
        if (!complete && !part_is_due) {
            stream.waiting = true;
            break;
        }
        // `used` counts once a newer packet follows.
        std::uint64_t used = std::min(glance.head, end) - start;
        if (glance.head > end)
            used = std::clamp<std::uint64_t>(packet.used, position - start, view.packet_size);
        Piece piece{&stream, {}, clock, complete ? end : glance.head};
        piece.bytes.cpu = view.cpu;
        piece.bytes.seq = start / view.packet_size;
        piece.bytes.start = static_cast<std::uint32_t>(position - start);
        piece.bytes.first = std::exchange(stream.first, 0);
        piece.bytes.whole = complete && position == start;
        piece.bytes.bytes = {reinterpret_cast<const std::byte *>(&packet) + (position - start),
                             used - (position - start)};
        pieces.push_back(piece);
        position = piece.end;
        if (!complete)
            stream.part_time = now;
    }
    // What is in the file once these pieces are.
    if (stream.waiting)
        stream.safe = clock;
    else if (glance.idle)
        stream.safe = now;
    return glance.head > std::max(stream.position, stream.released);
}

/// Writes all pieces; events before `limit` are then in the file.
void Recorder::write(std::vector<Piece> &pieces, std::uint64_t limit) {
    // With marks in between a reader need not hold more than a few packets of each CPU.
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Piece &a, const Piece &b) { return a.clock < b.clock; });
    const std::size_t between_marks = 2 * streams_.size();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        write(pieces[i]);
        if (i + 1 < pieces.size() && (i + 1) % between_marks == 0)
            mark(std::min(limit, pieces[i + 1].clock));
        if (writer_.is_full())
            flush();
    }
    if (owed_ != 0)
        mark(limit);
    flush();
}

void Recorder::mark(std::uint64_t time) {
    if (time <= marked_)
        return;
    marked_ = time;
    writer_.mark(time);
}

void Recorder::write(const Piece &piece) {
    std::span<const std::byte> records = piece.bytes.bytes;
    if (piece.bytes.start == 0)
        records = records.subspan(std::min<std::size_t>(sizeof(argtrace_packet), records.size()));
    metadata_.precede(records);
    if (!piece.bytes.bytes.empty())
        writer_.packet(piece.bytes);
    piece.stream->position = piece.end;
}

void Recorder::flush() {
    writer_.flush();
    for (Stream &stream : streams_) {
        if (stream.position > stream.released) {
            stream.released = stream.position;
            stream.reader.release(stream.position);
        }
    }
}

std::optional<std::uint64_t> Recorder::due() const {
    constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t mark = owed_ != 0 ? owed_ + 2 * std::uint64_t{ARGTRACE_CLOCK_SLACK} : never;
    std::uint64_t first = never;
    for (const Stream &stream : streams_) {
        if (!stream.waiting)
            continue;
        const std::uint64_t part = stream.part_time + part_period_ns;
        first = std::min(first, part);
        // The mark has to wait for what is not in the file.
        if (stream.safe < owed_ + ARGTRACE_CLOCK_SLACK)
            mark = std::max(mark, part);
    }
    first = std::min(first, mark);
    return first == never ? std::nullopt : std::optional(first);
}

std::uint64_t Recorder::lost() const {
    std::uint64_t sum = 0;
    for (const CpuLoss &one : loss())
        sum += one.lost;
    return sum;
}

std::vector<CpuLoss> Recorder::loss() const {
    std::vector<CpuLoss> all;
    for (const Stream &stream : streams_)
        all.push_back({stream.view.cpu, 0, stream.lost()});
    return all;
}

} // namespace argtrace
