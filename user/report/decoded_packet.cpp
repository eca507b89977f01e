// SPDX-License-Identifier: GPL-2.0-only
#include "report/decoded_packet.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace argtrace {

namespace {

using Bytes = std::span<const std::byte>;

bool is_older(const Event &a, const Event &b) {
    return a.end() < b.end();
}

bool are_in_order(const std::vector<Event> &events) {
    bool in_order = true;
    std::uint64_t latest = 0;
    for (const Event &event : events) {
        const std::uint64_t end = event.end();
        in_order &= latest <= end;
        latest = end;
    }
    return in_order;
}

constexpr std::size_t shared_in_vain_min = 256;

/// Decodes up to `limit`, passing over what cannot be read.
void drain(Decoder &decoder, std::size_t limit, std::size_t first, const DecodeJob &job,
           DecodedPacket &packet) {
    // Room for all of it at once, were every value a word.
    const std::size_t records = decoder.count(limit);
    packet.batch.events.reserve(records);
    packet.batch.values.reserve((limit - std::min(limit, decoder.offset())) /
                                    sizeof(std::uint64_t) -
                                records * (sizeof(argtrace_record) / sizeof(std::uint64_t)));
    SharedArguments shared(job.shared ? std::max(records / 4, shared_in_vain_min) : 0);
    for (;;) {
        const DecodeStatus status = decoder.decode(limit, first, *job.schema, packet.batch, job.shared ? &shared : nullptr);
        if (status == DecodeStatus::ok)
            return;
        packet.unreadable.why = status;
        if (!decoder.skip(limit)) {
            ++packet.unreadable.packets;
            return;
        }
        ++packet.unreadable.records;
    }
}

/// Takes the events of one CPU, in the order of time.
void include_widths(const std::vector<Event> &events, Widths &widths) {
    const Event *before = nullptr;
    for (const Event &event : events) {
        if (!before || event.tid != before->tid || !event.has_comm(before->comm))
            widths.include(event);
        before = &event;
    }
    if (before) // the latest
        widths.include(*before);
}

/// What is asked of the events, once they are there.
void finish(const DecodeJob &job, DecodedPacket &packet) {
    std::vector<Event> &events = packet.batch.events;
    packet.decoded = events.size();
    packet.time = events.empty() ? 0 : events.front().ts;
    job.filter->apply(packet.batch);
    if (!job.events) {
        for (const Event &event : events)
            ++packet.calls[event.probe];
        if (!events.empty()) {
            const auto [first, last] = std::minmax_element(events.begin(), events.end(), is_older);
            packet.first = first->end();
            packet.last = last->end();
        }
        // Durations are asked for: only calls that have one count.
        std::erase_if(events, [](const Event &event) { return !event.has_duration(); });
        if (events.empty()) {
            packet.batch = {};
            return;
        }
    }
    if (!are_in_order(events))
        std::stable_sort(events.begin(), events.end(), is_older);
    if (job.widths)
        include_widths(events, packet.widths);
}

/// What the header in `bytes` says, if it is there.
void note_header(Bytes bytes, DecodedPacket &packet) {
    argtrace_packet header;
    if (bytes.size() < sizeof(header))
        return;
    std::memcpy(&header, bytes.data(), sizeof(header));
    packet.lost = header.lost;
}

DecodeStatus check(const Decoder &decoder, const PacketPrefix &prefix, DecodeStatus opened) {
    if (opened != DecodeStatus::ok)
        return opened;
    if (decoder.header().seq != prefix.seq)
        return DecodeStatus::bad_sequence;
    if (decoder.header().cpu != prefix.cpu)
        return DecodeStatus::bad_cpu;
    return DecodeStatus::ok;
}

/// The prefix of a chunk, and its packet's bytes; what is wrong with the chunk is in `packet`.
Payload read_chunk(const Chunk &chunk, PacketPrefix &prefix, DecodedPacket &packet) {
    Payload payload = unpack(chunk, sizeof(prefix), file_packet_max);
    packet.status = payload.status;
    prefix = {};
    if (payload.front.size() == sizeof(prefix))
        std::memcpy(&prefix, payload.front.data(), sizeof(prefix));
    packet.cpu = prefix.cpu;
    packet.seq = prefix.seq;
    if (packet.status == FileStatus::ok &&
        (payload.front.size() < sizeof(prefix) || prefix.size != payload.bytes.size() ||
         prefix.cpu >= file_cpus_max))
        packet.status = FileStatus::bad_packet_prefix;
    return payload;
}

} // namespace

DecodedPacket decode_packet(const Chunk &chunk, const DecodeJob &job) {
    DecodedPacket packet;
    PacketPrefix prefix;
    const Payload payload = read_chunk(chunk, prefix, packet);
    if (packet.status == FileStatus::ok && prefix.start != 0)
        packet.status = FileStatus::bad_packet_prefix;
    if (packet.status != FileStatus::ok)
        return packet;

    Decoder decoder;
    const DecodeStatus opened = check(decoder, prefix, decoder.open_cut(payload.bytes));
    if (opened != DecodeStatus::ok) {
        packet.unreadable = {0, 1, opened};
        return packet;
    }
    note_header(payload.bytes, packet);
    if (job.filter->wants_cpu(packet.cpu))
        drain(decoder, payload.bytes.size(), prefix.first, job, packet);
    finish(job, packet);
    return packet;
}

void PartDecoder::Free::operator()(std::byte *bytes) const {
    std::free(bytes);
}

/// Puts the bytes where they belong.
FileStatus PartDecoder::take(const PacketPrefix &prefix, Bytes bytes) {
    if (prefix.start == 0) {
        forget();
        argtrace_packet header;
        if (bytes.size() < sizeof(header))
            return FileStatus::bad_packet_prefix;
        std::memcpy(&header, bytes.data(), sizeof(header));
        if (header.size < bytes.size() || header.size > file_packet_max)
            return FileStatus::bad_packet_prefix;
        bytes_.reset(static_cast<std::byte *>(std::calloc(1, header.size)));
        if (!bytes_)
            throw std::bad_alloc();
        capacity_ = header.size;
        filled_ = bytes.size();
        seq_ = prefix.seq;
        std::memcpy(bytes_.get(), bytes.data(), bytes.size());
        return FileStatus::ok;
    }
    if (capacity_ == 0 || prefix.seq != seq_ || prefix.start != filled_ ||
        bytes.size() > capacity_ - filled_) {
        forget();
        return FileStatus::packet_out_of_place;
    }
    std::memcpy(&bytes_[filled_], bytes.data(), bytes.size());
    filled_ += bytes.size();
    return FileStatus::ok;
}

DecodedPacket PartDecoder::decode(const Chunk &chunk, const DecodeJob &job) {
    DecodedPacket packet;
    PacketPrefix prefix;
    const Payload payload = read_chunk(chunk, prefix, packet);
    if (packet.status == FileStatus::ok)
        packet.status = take(prefix, payload.bytes);
    if (packet.status != FileStatus::ok)
        return packet;

    if (prefix.start == 0) {
        opened_ = check(decoder_, prefix, decoder_.open({bytes_.get(), capacity_}));
        if (opened_ != DecodeStatus::ok)
            packet.unreadable = {0, 1, opened_};
        else
            note_header(payload.bytes, packet);
    }
    if (opened_ == DecodeStatus::ok && job.filter->wants_cpu(packet.cpu))
        drain(decoder_, filled_, prefix.first, job, packet);
    finish(job, packet);
    return packet;
}

} // namespace argtrace
