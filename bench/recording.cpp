// SPDX-License-Identifier: GPL-2.0-only
#include "recording.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>

#include "uapi/probe.h"
#include "util/fd.h"

namespace argtrace::bench {

namespace {

constexpr std::uint64_t lower_half = std::uint64_t{1} << 32;

template<typename T>
T load(const std::byte *from) {
    T object;
    std::memcpy(&object, from, sizeof(object));
    return object;
}

/// Calls `each(record, data)` for every record of these bytes of a packet.
template<typename Bytes, typename Each>
void for_each_record(const PacketPrefix &prefix, Bytes &bytes, Each each) {
    std::size_t at = prefix.start == 0 ? load<argtrace_packet>(bytes.data()).header : 0;
    while (at < bytes.size()) {
        const auto record = load<argtrace_record>(&bytes[at]);
        if (record.size < sizeof(record) || at + record.size > bytes.size())
            throw std::runtime_error("the recording is malformed");
        each(record, &bytes[at + sizeof(record)]);
        at += record.size;
    }
}

} // namespace

Recording::Recording(const std::string &path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    ChunkReader chunks(file.get());
    if (!file || chunks.open() != FileStatus::ok)
        throw std::runtime_error(path + ": cannot be read");
    Chunk chunk;
    while (chunks.next(chunk))
        take(chunk);
    if (chunks.status() != FileStatus::ok || events_ == 0 || probes_.empty())
        throw std::runtime_error(path + ": it is damaged, or holds no events");
    // Across such a distance the packets' own conversion is right as well.
    shift_.clock = ((last_ - first_) / lower_half + 2) * lower_half;
    const auto header = load<argtrace_packet>(items_.front().bytes.data());
    __extension__ using Wide = unsigned __int128;
    shift_.ns =
        info_.clock == ARGTRACE_CLOCK_MONOTONIC
            ? shift_.clock
            : static_cast<std::uint64_t>(Wide{shift_.clock} * header.mult >> ARGTRACE_MULT_SHIFT);
}

void Recording::take(const Chunk &chunk) {
    const bool packet = chunk.type() == ChunkType::packet;
    const Payload payload = unpack(chunk, packet ? sizeof(PacketPrefix) : 0);
    if (payload.status != FileStatus::ok)
        throw std::runtime_error("the recording is damaged");
    const std::string_view text(reinterpret_cast<const char *>(payload.bytes.data()),
                                payload.bytes.size());
    switch (chunk.type()) {
    case ChunkType::info:
        info_ = info_from_json(text).value();
        break;
    case ChunkType::probes:
        probes_ = parse_probes(payload.bytes, 1);
        break;
    case ChunkType::symbols:
        symbols_ += text;
        break;
    case ChunkType::mark:
        items_.push_back({{}, true, {}, load<std::uint64_t>(payload.bytes.data())});
        break;
    case ChunkType::packet:
        items_.push_back({load<PacketPrefix>(payload.front.data()),
                          !(chunk.header.flags & chunk_part),
                          {payload.bytes.begin(), payload.bytes.end()},
                          0});
        look_through(items_.back());
        break;
    default:
        break;
    }
}

void Recording::look_through(const Item &item) {
    packets_ = std::max(packets_, item.prefix.seq + 1);
    if (item.prefix.start == 0) {
        const auto header = load<argtrace_packet>(item.bytes.data());
        first_ = first_ == 0 ? header.clock : std::min<std::uint64_t>(first_, header.clock);
        last_ = std::max<std::uint64_t>(last_, header.clock);
    }
    for_each_record(item.prefix, item.bytes, [&](const argtrace_record &record, const std::byte *) {
        events_ += record.id <= ARGTRACE_ID_MAX;
    });
}

/// The same in the copy of that number.
Recording::Item Recording::later(const Item &item, std::uint64_t copy) const {
    Item made = item;
    const Shift shift{shift_.clock * copy, shift_.ns * copy};
    if (item.bytes.empty()) {
        made.mark += shift.ns;
        return made;
    }
    made.prefix.seq += packets_ * copy;
    if (made.prefix.start == 0) {
        auto header = load<argtrace_packet>(made.bytes.data());
        header.seq = made.prefix.seq;
        header.clock += shift.clock;
        header.ns += shift.ns;
        std::memcpy(made.bytes.data(), &header, sizeof(header));
    }
    for_each_record(made.prefix, made.bytes, [&](const argtrace_record &record, std::byte *data) {
        if (record.id != ARGTRACE_ID_CLOCK)
            return;
        auto now = load<argtrace_now>(data);
        now.clock += shift.clock;
        now.ns += shift.ns;
        std::memcpy(data, &now, sizeof(now));
    });
    return made;
}

std::uint64_t Recording::write(TraceWriter &writer, std::uint64_t events) {
    writer.info(info_);
    writer.probes(probes_);
    writer.symbols(symbols_);
    std::uint64_t written = 0;
    for (std::uint64_t copy = 0; written < events; ++copy, written += events_) {
        for (const Item &item : items_) {
            const Item made = later(item, copy);
            if (made.bytes.empty())
                writer.mark(made.mark);
            else
                writer.packet({made.prefix.cpu, made.prefix.seq, made.prefix.start,
                               made.prefix.first, made.whole, made.bytes});
            writer.flush();
        }
    }
    writer.end();
    writer.flush();
    return written;
}

} // namespace argtrace::bench
