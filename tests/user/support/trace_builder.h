// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "file/writer.h"
#include "render/json.h"
#include "report/in_time_order.h"
#include "support/packet_builder.h"

namespace argtrace::test {

using FileBytes = std::vector<std::byte>;

/// A file in memory.
inline Fd memory_file(const FileBytes &bytes = {}) {
    Fd file(::memfd_create("trace", MFD_CLOEXEC));
    if (!bytes.empty() && ::write(file.get(), bytes.data(), bytes.size()) < 0)
        throw std::runtime_error("cannot write to memory");
    ::lseek(file.get(), 0, SEEK_SET);
    return file;
}

inline FileBytes contents(int fd) {
    FileBytes bytes(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)));
    if (!bytes.empty() && ::pread(fd, bytes.data(), bytes.size(), 0) < 0)
        throw std::runtime_error("cannot read from memory");
    return bytes;
}

/// A packet of one CPU with calls of vfs_read, `step` ns apart, that count on from `count`.
inline FileBytes packet_of(std::uint32_t cpu, std::uint64_t seq, std::uint64_t clock,
                           std::uint64_t step, std::uint64_t count, unsigned calls) {
    PacketBuilder packet(4096, clock);
    packet.header().cpu = cpu;
    packet.header().seq = seq;
    packet.task(100 + cpu, 100, cpu ? "cat" : "dd", clock);
    for (unsigned i = 0; i < calls; ++i)
        packet.record(1, clock + i * step, vfs_read_data(count + i), 100 + cpu);
    FileBytes bytes = packet.bytes();
    bytes.resize(packet.end());
    return bytes;
}

inline PacketBytes packet_bytes(const FileBytes &bytes) {
    argtrace_packet header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    PacketBytes packet;
    packet.cpu = header.cpu;
    packet.seq = header.seq;
    packet.bytes = bytes;
    return packet;
}

inline TraceInfo some_info() {
    TraceInfo info;
    info.argtrace = "0.1.0";
    info.kernel = "6.12.0";
    info.machine = "x86_64";
    info.host = "guest";
    info.cpus = 2;
    info.record_version = ARGTRACE_RECORD_VERSION;
    info.packet_size = 4096;
    info.packets_per_cpu = 4;
    info.mode = "stream";
    info.begin_realtime = 1700000000123456789;
    info.begin_monotonic = 1000;
    info.command = {"dd", "if=/dev/zero"};
    return info;
}

inline constexpr const char *some_symbols = "ffffffff81000000 t ksys_read\n";

/// Two CPUs whose events alternate: CPU 0 at 1000, 1020 ..., CPU 1 at 1010, 1030 ...; `packets`
/// of each with eight calls. With a mark after each pair, and of the last pair the second half
/// as parts of their own.
inline FileBytes make_trace(unsigned packets = 3, std::optional<int> level = std::nullopt) {
    Fd file = memory_file();
    const int fd = ::dup(file.get());
    TraceWriter writer(std::move(file), "memory", level);
    writer.info(some_info());
    writer.probes(std::vector{vfs_read()});
    writer.symbols(some_symbols);
    std::uint64_t clock = 1000;
    for (unsigned i = 0; i < packets; ++i, clock += 160) {
        for (std::uint32_t cpu : {0u, 1u}) {
            const FileBytes bytes = packet_of(cpu, i, clock + 10 * cpu, 20, 16 * i + 8 * cpu, 8);
            PacketBytes packet = packet_bytes(bytes);
            if (i + 1 == packets) {
                const std::size_t half = bytes.size() - 4 * 56; // four records
                packet.whole = false;
                packet.bytes = std::span(bytes).first(half);
                writer.packet(packet);
                packet.start = static_cast<std::uint32_t>(half);
                packet.bytes = std::span(bytes).subspan(half);
            }
            writer.packet(packet);
            writer.flush();
        }
        writer.mark(clock + 100);
    }
    argtrace_counts counts{};
    counts.id = 1;
    counts.records = 16 * packets;
    counts.filtered = 3;
    counts.lost[ARGTRACE_LOST_FULL] = 2;
    writer.counts(std::span(&counts, 1));
    const CpuLoss loss{1, 0, 2};
    writer.loss(std::span(&loss, 1));
    writer.span({900, 2500});
    writer.end();
    writer.flush();
    FileBytes bytes = contents(fd);
    ::close(fd);
    return bytes;
}

/// What a reader makes of a file.
struct Read {
    std::vector<std::uint64_t> times; ///< of the events, in their order
    std::string text;                 ///< they as JSON lines
    std::vector<FileFault> faults;
    std::uint64_t fault_count = 0;
    Unreadable unreadable;
    TraceInfo info;
    std::vector<argtrace_counts> counts;
    std::map<std::uint32_t, std::uint64_t> loss;
    std::map<std::uint32_t, std::uint64_t> missing; ///< packets, by CPU
    std::optional<RecordedSpan> span;
    bool complete = false;

    bool clean() const {
        return complete && fault_count == 0 && unreadable.records + unreadable.packets == 0;
    }
};

/// Throws Error, as TraceReader does. Without `text` much faster.
inline Read read_trace(int fd, WorkerPool &workers, const EventFilter &filter = {},
                       bool text = true) {
    DecodeJob job;
    job.filter = &filter;
    TraceReader reader(fd, "memory", workers, job);
    CallerNames callers(reader.symbols());
    std::optional<JsonRenderer> renderer;
    if (text)
        renderer.emplace(callers, false);
    Read read;
    const auto take = [&](const TimeOrder::Packet &packet, const Event &event) {
        read.times.push_back(event.ts);
        if (renderer)
            renderer->event(read.text, packet->batch.view(event));
        return true;
    };
    read_in_time_order(reader, take);
    read.faults = reader.faults();
    read.fault_count = reader.fault_count();
    read.unreadable = reader.unreadable();
    read.info = reader.info();
    read.counts = reader.counts();
    read.loss = reader.loss();
    for (const auto &[cpu, one] : reader.cpus())
        read.missing[cpu] = one.missing;
    read.span = reader.span();
    read.complete = reader.complete();
    return read;
}

inline Read read_trace(const FileBytes &bytes, WorkerPool &workers, const EventFilter &filter = {},
                       bool text = true) {
    const Fd file = memory_file(bytes);
    return read_trace(file.get(), workers, filter, text);
}

} // namespace argtrace::test
