// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "session/ring_reader.h"
#include "support/packet_builder.h"

namespace argtrace::test {

/// A ring in memory, written by the rules of include/uapi/argtrace.h, one call after the other: a
/// stream, or a flight recorder, which overwrites its oldest packet.
class FakeRing {
public:
    static constexpr std::uint32_t packet_size = 512;

    enum class Mode { stream, flight };

    explicit FakeRing(std::uint32_t cpu = 0, std::uint32_t nr_packets = 4, Mode mode = Mode::stream)
        : cpu_(cpu), nr_packets_(nr_packets), mode_(mode), packets_(packet_size * nr_packets) {}

    RingView view() { return {&control, &reader, packets_.data(), packet_size, nr_packets_, cpu_}; }

    /// Writes a record; false (and counted) when the ring is full. Not published.
    bool write(std::uint32_t id, std::uint64_t clock, const Data &data, std::uint32_t tid = 1) {
        std::size_t size = (sizeof(argtrace_record) + data.bytes().size() + 7) / 8 * 8;
        std::uint64_t offset = control.reserve % packet_size;
        if ((offset == 0 || offset + size > packet_size) && !open_packet(clock))
            return ++control.lost, false;

        argtrace_record record{};
        record.clock = static_cast<std::uint32_t>(clock);
        record.id = id;
        record.tid = tid;
        record.size = static_cast<std::uint16_t>(size);
        std::memcpy(at(control.reserve), &record, sizeof(record));
        std::memcpy(at(control.reserve) + sizeof(record), data.bytes().data(), data.bytes().size());
        control.reserve += size;
        return true;
    }

    void publish() { control.head = control.reserve; }

    /// A call of vfs_read with that count, published.
    bool call(std::uint64_t clock, std::uint64_t count = 0, std::uint32_t id = 1) {
        bool written = write(id, clock, vfs_read_data(count));
        publish();
        return written;
    }

    std::byte *at(std::uint64_t position) { return &packets_[position % packets_.size()]; }

    argtrace_packet &packet(std::uint64_t position) {
        return *reinterpret_cast<argtrace_packet *>(at(position - position % packet_size));
    }

    /// Back to what it was; views of it stay good.
    void restore(const FakeRing &before) {
        control = before.control;
        reader = before.reader;
        std::copy(before.packets_.begin(), before.packets_.end(), packets_.begin());
    }

    argtrace_ring_control control{};
    argtrace_ring_reader reader{};

private:
    bool open_packet(std::uint64_t clock) {
        std::uint64_t old = control.reserve;
        std::uint64_t start = (old + packet_size - 1) / packet_size * packet_size;
        if (mode_ == Mode::flight)
            invalidate_packet(start);
        else if (start + packet_size - reader.tail > packets_.size())
            return false;
        if (old != 0)
            packet(old - 1).used =
                static_cast<std::uint32_t>(old - (old - 1) / packet_size * packet_size);
        argtrace_packet &header = packet(start); // its `used` is that of a lap ago
        header.magic = ARGTRACE_PACKET_MAGIC;
        header.version = ARGTRACE_RECORD_VERSION;
        header.header = sizeof(header);
        header.size = packet_size;
        header.seq = start / packet_size;
        header.clock = clock;
        header.lost = control.lost;
        header.cpu = cpu_;
        control.reserve = start + sizeof(header);

        argtrace_task task{};
        task.tgid = 1;
        std::memcpy(task.comm, "fake", 5);
        return write(ARGTRACE_ID_TASK, clock, Data().put(task));
    }

    /// Tells readers that a packet is gone before anything else in it changes.
    void invalidate_packet(std::uint64_t start) {
        argtrace_packet &old = packet(start);
        for (std::uint64_t offset = sizeof(old); start >= packets_.size() && offset < old.used;) {
            argtrace_record record;
            std::memcpy(&record, at(start + offset), sizeof(record));
            control.overwritten += argtrace_record_probe(record.id) != 0;
            offset += record.size;
        }
        old.seq = start / packet_size;
    }

    std::uint32_t cpu_;
    std::uint32_t nr_packets_;
    Mode mode_;
    std::vector<std::byte> packets_;
};

} // namespace argtrace::test
