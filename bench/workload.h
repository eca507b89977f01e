// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "decode/schema.h"
#include "report/symbol_table.h"
#include "session/ring_reader.h"
#include "support/packet_builder.h"

namespace argtrace::bench {

/// Full rings as a busy machine leaves them: calls of the vfs_* kind, by many tasks, from many
/// callers, on several CPUs at once. The same on every run.
class Workload {
public:
    static constexpr std::uint32_t nr_cpus = 4;
    static constexpr std::uint32_t packet_size = 64 * 1024;
    static constexpr std::uint32_t nr_packets = 16;

    Workload() {
        symbols_.add(symbol_list());
        for (const Probe &probe : probes())
            schema_.add(probe);
        for (std::uint32_t cpu = 0; cpu < nr_cpus; ++cpu)
            fill(rings_.emplace_back(), cpu);
    }

    /// One view for each ring; what publish() says is in them, and nothing of it is read.
    std::vector<RingView> rings() {
        std::vector<RingView> views;
        publish(0);
        for (std::uint32_t cpu = 0; cpu < nr_cpus; ++cpu) {
            rings_[cpu].reader.tail = 0;
            views.push_back({&rings_[cpu].control, &rings_[cpu].reader, rings_[cpu].packets.data(),
                             packet_size, nr_packets, cpu});
        }
        return views;
    }

    /// From now on so many packets of each ring have been written.
    void publish(std::uint32_t packets) {
        for (Ring &ring : rings_) {
            ring.control.head = packets == 0 ? 0 : ring.ends[packets - 1];
            ring.control.reserve = ring.control.head;
        }
    }

    Schema &schema() { return schema_; }
    const Symbols &symbols() const { return symbols_; }
    std::uint64_t events() const { return events_; }

private:
    static constexpr std::uint64_t first_function = 0xffffffff81000000;
    static constexpr unsigned nr_functions = 4096;
    static constexpr unsigned nr_callers = 64;
    static constexpr unsigned nr_tasks = 32;
    static constexpr std::uint64_t start = 86400123456789; // a day of uptime

    struct Ring {
        argtrace_ring_control control{};
        argtrace_ring_reader reader{};
        std::vector<std::byte> packets;
        std::vector<std::uint64_t> ends; // of what each packet uses
    };

    static std::string symbol_list() {
        std::string text;
        for (unsigned i = 0; i < nr_functions; ++i)
            text += fmt::format("{:x} T some_function_{}\n", first_function + i * 256, i);
        return text;
    }

    static std::vector<Probe> probes() {
        using test::argument;
        Probe open = test::vfs_read(2);
        open.function = "vfs_open";
        open.args = {argument("path", ARGTRACE_TYPE_PTR, "const struct path *", 0),
                     argument("file", ARGTRACE_TYPE_PTR, "struct file *", 1)};
        Probe llseek = test::vfs_read(3);
        llseek.function = "vfs_llseek";
        llseek.args = {argument("file", ARGTRACE_TYPE_PTR, "struct file *", 0),
                       argument("offset", ARGTRACE_TYPE_S64, "loff_t", 1),
                       argument("whence", ARGTRACE_TYPE_S32, "int", 2)};
        return {test::vfs_read(1), open, llseek};
    }

    std::uint64_t pointer() { return 0xffff888000000000 | (random_() & 0x3fffffff8); }

    test::Data call(std::uint32_t id) {
        const std::uint64_t caller = first_function + random_() % nr_callers * 8192 + 0x6f;
        test::Data data = test::Data().put(caller).put(pointer());
        switch (id) {
        case 1:
            return data.put(std::uint64_t{0x7ffd00000000 | (random_() & 0xffffff)})
                .put(std::uint64_t{1} << random_() % 17)
                .put(pointer());
        case 2:
            return data.put(pointer());
        default:
            return data.put(static_cast<std::int64_t>(random_() % 100000) - 5)
                .put(static_cast<std::int32_t>(random_() % 3));
        }
    }

    void fill(Ring &ring, std::uint32_t cpu) {
        static constexpr std::array<std::uint32_t, 8> mix = {1, 1, 1, 1, 1, 2, 2, 3};
        static constexpr std::size_t room = 128; // more than a task and a call take
        std::uint64_t now = start;
        for (std::uint32_t seq = 0; seq < nr_packets; ++seq) {
            test::PacketBuilder packet(packet_size, now);
            packet.header().seq = seq;
            packet.header().cpu = cpu;
            std::uint32_t tid = 0;
            while (packet.end() + room <= packet_size) {
                if (tid == 0 || random_() % 64 == 0) {
                    tid = 1000 + static_cast<std::uint32_t>(random_() % nr_tasks) * 7;
                    packet.task(tid, tid, fmt::format("worker-{}", tid), now);
                }
                const std::uint32_t id = mix[random_() % mix.size()];
                packet.record(id, now, call(id), tid, 0, random_() % 16 == 0);
                now += 200 + random_() % 4000;
                ++events_;
            }
            packet.header().used = static_cast<std::uint32_t>(packet.end());
            ring.packets.insert(ring.packets.end(), packet.bytes().begin(), packet.bytes().end());
            ring.ends.push_back(std::uint64_t{seq} * packet_size + packet.end());
        }
    }

    std::mt19937_64 random_{20240501};
    Schema schema_;
    SymbolTable symbols_;
    std::deque<Ring> rings_;
    std::uint64_t events_ = 0;
};

} // namespace argtrace::bench
