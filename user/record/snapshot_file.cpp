// SPDX-License-Identifier: GPL-2.0-only
#include "record/snapshot_file.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "decode/decode.h"

namespace argtrace {

namespace {

struct Piece {
    std::uint64_t clock; // no record in it is older
    PacketBytes bytes;
};

std::vector<Piece> in_order_of_time(std::span<const RingSnapshot> snapshots) {
    std::vector<Piece> pieces;
    for (const RingSnapshot &snapshot : snapshots) {
        for (const SavedPacket &packet : snapshot.packets()) {
            argtrace_packet header;
            std::memcpy(&header, packet.bytes.data(), sizeof(header));
            Piece piece{packet_time(header), {}};
            piece.bytes.cpu = snapshot.cpu();
            piece.bytes.seq = packet.seq;
            piece.bytes.bytes = packet.bytes;
            pieces.push_back(piece);
        }
    }
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Piece &a, const Piece &b) { return a.clock < b.clock; });
    return pieces;
}

} // namespace

void write_packets(std::span<const RingSnapshot> snapshots, MetadataWriter &metadata,
                   TraceWriter &writer) {
    const std::vector<Piece> pieces = in_order_of_time(snapshots);
    const std::size_t between_marks = std::max<std::size_t>(2 * snapshots.size(), 1);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        metadata.precede(pieces[i].bytes.bytes.subspan(sizeof(argtrace_packet)));
        writer.packet(pieces[i].bytes);
        // A reader need not hold more than a few packets of each CPU.
        if (i + 1 < pieces.size() && (i + 1) % between_marks == 0)
            writer.mark(pieces[i + 1].clock);
        if (writer.is_full())
            writer.flush();
    }
    writer.flush();
}

} // namespace argtrace
