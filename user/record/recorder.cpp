// SPDX-License-Identifier: GPL-2.0-only
#include "record/recorder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace argtrace {

namespace {

// As in session/merge.cpp.
constexpr std::uint64_t slack_ns = ARGTRACE_CLOCK_SLACK;
constexpr int looks = 32;

// So much later at most a record is in the file, where it does not fill a packet before.
constexpr std::uint64_t part_period_ns = 100000000;

const argtrace_packet &packet_at(const RingView &ring, std::uint64_t position) {
    const std::uint64_t size = std::uint64_t{ring.packet_size} * ring.nr_packets;
    const std::uint64_t start = position - position % ring.packet_size;
    return *reinterpret_cast<const argtrace_packet *>(ring.packets + start % size);
}

} // namespace

Recorder::Lane::Lane(const RingView &ring_view)
    : view(ring_view), ring(ring_view), released(ring.position()), lost_before(ring.lost()) {
    first = static_cast<std::uint32_t>(released % view.packet_size);
    position = released - first;
}

Recorder::Recorder(std::span<const RingView> rings, std::uint32_t format, Legend::Probes probes,
                   const Symbols &symbols, TraceWriter &writer)
    : writer_(writer), legend_(format, std::move(probes), symbols, writer) {
    lanes_.reserve(rings.size());
    for (const RingView &ring : rings)
        lanes_.emplace_back(ring);
}

bool Recorder::collect(std::uint64_t now) {
    return round(now, false);
}

void Recorder::collect_rest() {
    round(std::numeric_limits<std::uint64_t>::max(), true);
}

bool Recorder::round(std::uint64_t now, bool last) {
    pressure_ = 0;
    std::vector<Piece> pieces;
    bool found = false;
    for (Lane &lane : lanes_)
        found |= look(lane, now, last, pieces);

    std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
    for (const Lane &lane : lanes_)
        limit = std::min(limit, lane.safe);
    limit = last || limit < slack_ns ? 0 : limit - slack_ns;
    if (!pieces.empty())
        owed_ = now;
    write(pieces, limit);
    if (limit >= owed_)
        owed_ = 0;
    return found;
}

/// Finds what there is to write of one ring. False when nothing has come.
bool Recorder::look(Lane &lane, std::uint64_t now, bool last, std::vector<Piece> &pieces) {
    RingReader::Glance glance = lane.ring.look();
    for (int i = 1; i < looks && !glance.idle; ++i)
        glance = lane.ring.look();
    const double occupied = static_cast<double>(glance.head - lane.released);
    pressure_ = std::max(pressure_, occupied / static_cast<double>(lane.ring.size()));

    const RingView &view = lane.view;
    const bool part_is_due = last || now - lane.part_time >= part_period_ns;
    std::uint64_t clock = lane.safe;
    std::uint64_t position = lane.position;
    lane.waiting = false;
    while (std::max(position, lane.released) < glance.head) {
        const argtrace_packet &packet = packet_at(view, position);
        const std::uint64_t start = position - position % view.packet_size;
        const std::uint64_t end = start + view.packet_size;
        if (position == start)
            clock = std::max(clock, packet_time(packet));
        const bool complete = glance.head >= end;
        if (!complete && !part_is_due) {
            lane.waiting = true;
            break;
        }
        // `used` counts once a newer packet follows.
        std::uint64_t used = std::min(glance.head, end) - start;
        if (glance.head > end)
            used = std::clamp<std::uint64_t>(packet.used, position - start, view.packet_size);
        Piece piece{&lane, {}, clock, complete ? end : glance.head};
        piece.bytes.cpu = view.cpu;
        piece.bytes.seq = start / view.packet_size;
        piece.bytes.start = static_cast<std::uint32_t>(position - start);
        piece.bytes.first = std::exchange(lane.first, 0);
        piece.bytes.whole = complete && position == start;
        piece.bytes.bytes = {reinterpret_cast<const std::byte *>(&packet) + (position - start),
                             used - (position - start)};
        pieces.push_back(piece);
        position = piece.end;
        if (!complete)
            lane.part_time = now;
    }
    // What is in the file once these pieces are.
    if (lane.waiting)
        lane.safe = clock;
    else if (glance.idle)
        lane.safe = now;
    return glance.head > std::max(lane.position, lane.released);
}

/// All of them; events before `limit` are then in the file.
void Recorder::write(std::vector<Piece> &pieces, std::uint64_t limit) {
    // With marks in between a reader need not hold more than a few packets of each CPU.
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Piece &a, const Piece &b) { return a.clock < b.clock; });
    const std::size_t between_marks = 2 * lanes_.size();
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
    legend_.precede(records);
    if (!piece.bytes.bytes.empty())
        writer_.packet(piece.bytes);
    piece.lane->position = piece.end;
}

void Recorder::flush() {
    writer_.flush();
    for (Lane &lane : lanes_) {
        if (lane.position > lane.released) {
            lane.released = lane.position;
            lane.ring.release(lane.position);
        }
    }
}

std::optional<std::uint64_t> Recorder::due() const {
    std::optional<std::uint64_t> first;
    if (owed_ != 0)
        first = owed_ + 2 * slack_ns;
    for (const Lane &lane : lanes_) {
        if (lane.waiting)
            first = std::min(first.value_or(std::numeric_limits<std::uint64_t>::max()),
                             lane.part_time + part_period_ns);
    }
    return first;
}

std::uint64_t Recorder::lost() const {
    std::uint64_t sum = 0;
    for (const CpuLoss &one : loss())
        sum += one.lost;
    return sum;
}

std::vector<CpuLoss> Recorder::loss() const {
    std::vector<CpuLoss> all;
    for (const Lane &lane : lanes_)
        all.push_back({lane.view.cpu, 0, lane.ring.lost() - lane.lost_before});
    return all;
}

} // namespace argtrace
