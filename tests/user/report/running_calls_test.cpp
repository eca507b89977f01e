// SPDX-License-Identifier: GPL-2.0-only
//
// Calls that had not returned when recording ended: the chunk of the file, and what a reader and an exporter make of it.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/exporter.h"
#include "model/unfinished.h"
#include "report/export_feed.h"
#include "support/trace_builder.h"

namespace argtrace {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t looked_at = 10000;
constexpr std::uint32_t clock_mult = 1u << ARGTRACE_MULT_SHIFT; // the clock counts ns

Probe returning(std::uint32_t id, const std::string &function) {
    Probe probe;
    probe.id = id;
    probe.flags = ARGTRACE_PROBE_RETURN;
    probe.function = function;
    probe.args = {argument("n", ARGTRACE_TYPE_U32), output("text", ARGTRACE_TYPE_STR, 16), test::returned(ARGTRACE_TYPE_S64)};
    return probe;
}

argtrace_in_flight_call call(std::uint32_t id, std::uint32_t tid, std::uint64_t begin, std::uint64_t n) {
    argtrace_in_flight_call call{};
    call.id = id;
    call.tid = tid;
    call.tgid = tid;
    call.clock = begin;
    call.caller = 0xffffffff81000010;
    call.nr_regs = 6;
    call.regs[0] = n;
    std::memcpy(call.comm, "sleep", sizeof("sleep"));
    return call;
}

/// A packet with one call, which began and ended then.
FileBytes packet_with(std::uint64_t seq, std::uint32_t id, std::uint32_t tid, std::uint64_t begin, std::uint64_t end) {
    PacketBuilder packet(4096, end);
    packet.header().seq = seq;
    packet.header().mult = clock_mult;
    packet.record(id, end,
                  Data().put(std::uint64_t{0xffffffff81000010}).put(end - begin).put(std::uint32_t{1}).put(std::int64_t{0}).put(std::uint64_t{0}).counted("x"),
                  tid);
    FileBytes bytes = packet.bytes();
    bytes.resize(packet.end());
    return bytes;
}

/// Task 7 is in f, in g, which is in h; task 8 is in f. The call of h returns, and is recorded, behind the chunk.
class RunningCallsTest : public testing::Test {
protected:
    FileBytes make(const std::vector<argtrace_in_flight_call> &calls) {
        Fd file = memory_file();
        const int fd = ::dup(file.get());
        TraceWriter writer(std::move(file), "memory");
        writer.info(some_info());
        writer.probes(std::vector{returning(1, "f"), returning(2, "g"), returning(3, "h")});
        const FileBytes before = packet_with(0, 1, 7, 900, 1000), after = packet_with(1, 3, 7, 9000, 12000);
        writer.packet(packet_bytes(before));
        argtrace_in_flight moment{};
        moment.clock = moment.ns = looked_at;
        moment.mult = clock_mult;
        writer.running(moment, calls);
        writer.packet(packet_bytes(after));
        writer.end();
        writer.flush();
        FileBytes bytes = contents(fd);
        ::close(fd);
        return bytes;
    }

    FileBytes make() {
        return make({call(3, 7, 9000, 3), call(2, 7, 4000, 2), call(1, 7, 3000, 1), call(1, 8, 5000, 0x500000009), call(99, 9, 1, 1)});
    }

    /// "task function begin n": what a reader says in the end.
    std::vector<std::string> running(const FileBytes &bytes, const EventFilter &filter = {}, bool events = true) {
        const Fd file = memory_file(bytes);
        DecodeJob job;
        job.filter = &filter;
        job.events = events;
        TraceReader reader(file.get(), "memory", workers_, job);
        while (reader.next()) {
        }
        faults_ = reader.fault_count();
        std::vector<std::string> all;
        for (const Event &event : reader.running().batch.events) {
            EXPECT_TRUE(is_unfinished(event));
            EXPECT_FALSE(event.has_duration());
            EXPECT_EQ(event.cpu, unknown_cpu);
            EXPECT_EQ(event.comm_view(), "sleep");
            const auto values = reader.running().batch.values_of(event);
            EXPECT_FALSE(values[1].captured || values[2].captured) << "they are known when it returns";
            all.push_back(fmt::format("{} {} {} {}", event.tid, event.probe->function, event.ts, values[0].low));
        }
        return all;
    }

    WorkerPool workers_{2};
    std::uint64_t faults_ = 0;
};

TEST_F(RunningCallsTest, ThoseThatHaveBeenRecordedSinceAreNotAmongThem) {
    EXPECT_THAT(running(make()), ElementsAre("7 f 3000 1", "7 g 4000 2", "8 f 5000 9"));
    EXPECT_THAT(running(make(), {}, false), ElementsAre("7 f 3000 1", "7 g 4000 2", "8 f 5000 9")) << "report --stats";
    EXPECT_EQ(faults_, 0u);
}

TEST_F(RunningCallsTest, AnotherCallOfTheTaskIsNotTheSame) {
    EXPECT_THAT(running(make({call(3, 7, 9500, 3)})), ElementsAre("7 h 9500 3"));
    EXPECT_THAT(running(make({call(3, 8, 9000, 3)})), ElementsAre("8 h 9000 3"));
    EXPECT_THAT(running(make({call(2, 7, 9000, 3)})), ElementsAre("7 g 9000 3"));
    EXPECT_THAT(running(make({call(3, 7, 9004, 3)})), IsEmpty()) << "its duration was rounded";
}

TEST_F(RunningCallsTest, FiltersChooseAmongThem) {
    EventFilter filter;
    filter.tids = {8};
    EXPECT_THAT(running(make(), filter), ElementsAre("8 f 5000 9"));
    filter = {};
    filter.from = 3500;
    EXPECT_THAT(running(make(), filter), ElementsAre("7 g 4000 2", "8 f 5000 9"));
    filter = {};
    filter.cpus = {{0, 100}};
    EXPECT_THAT(running(make(), filter), IsEmpty()) << "on which they began is not known";
}

TEST_F(RunningCallsTest, ADamagedListIsNamed) {
    Fd file = memory_file();
    const int fd = ::dup(file.get());
    TraceWriter writer(std::move(file), "memory");
    writer.info(some_info());
    writer.end();
    writer.flush();
    const FileBytes bytes = contents(fd);
    ::close(fd);
    const std::size_t end_size = sizeof(ChunkHeader) + sizeof(EndOfFile);
    for (const std::size_t length : {std::size_t{0}, sizeof(RunningHead) - 1, sizeof(RunningHead) + 1,
                                     sizeof(RunningHead) + sizeof(argtrace_in_flight_call) - 1}) {
        FileBytes damaged(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(end_size));
        const FileBytes payload(length);
        ChunkHeader header{static_cast<std::uint32_t>(ChunkType::running), 0, length, file_checksum(payload), 0};
        header.header_sum = header_checksum(header);
        const auto *at = reinterpret_cast<const std::byte *>(&header);
        damaged.insert(damaged.end(), at, at + sizeof(header));
        damaged.insert(damaged.end(), payload.begin(), payload.end());
        EXPECT_THAT(read_trace(damaged, workers_).faults,
                    testing::Contains(testing::Field(&FileFault::status, FileStatus::bad_running)))
            << length;
    }
}

/// Remembers what comes.
struct Collector : Exporter {
    void take(EventBlock block) override {
        for (const auto &entry : block.events)
            text.push_back(fmt::format("{} {}", entry.event->ts, is_unfinished(*entry.event)));
    }
    void lost(std::uint32_t, std::uint64_t, std::uint64_t) override {}
    void finish() override { text.push_back("end"); }
    std::vector<std::string> text;
};

TEST_F(RunningCallsTest, ExportersGetThemLast) {
    const Fd file = memory_file(make());
    EventFilter filter;
    DecodeJob job;
    job.filter = &filter;
    TraceReader reader(file.get(), "memory", workers_, job);
    Collector collector;
    ExportFeed feed(collector);
    read_in_time_order(reader, [&](const TimeOrder::Packet &packet, const Event &event) {
        feed.event(packet, event);
        return true;
    });
    feed.finish({}, reader.running().batch);
    EXPECT_THAT(collector.text, ElementsAre("900 false", "9000 false", "3000 true", "4000 true", "5000 true", "end"));
}

} // namespace
} // namespace argtrace
