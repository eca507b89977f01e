// SPDX-License-Identifier: GPL-2.0-only
#include "report/trace_aggregation.h"

#include <array>

#include <gtest/gtest.h>

#include "support/trace_builder.h"

namespace argtrace {
namespace {

using namespace test;

/// A recording of calls of vfs_read and vfs_write on two CPUs, one in each packet.
class RecordedPairs : public testing::Test {
protected:
    RecordedPairs() : writer_(memory(), "memory", std::nullopt) {
        writer_.info(some_info());
        Probe other = vfs_read(2);
        other.function = "vfs_write";
        writer_.probes(std::vector{vfs_read(1), other});
    }
    ~RecordedPairs() override { ::close(fd_); }

    void call(std::uint32_t cpu, std::uint32_t id, std::uint64_t clock, std::uint64_t count, std::uint64_t lost = 0) {
        PacketBuilder packet(4096, clock);
        packet.header().cpu = cpu;
        packet.header().seq = seq_.at(cpu)++;
        packet.header().lost = lost;
        packet.task(100 + cpu, 100, "dd", clock);
        packet.record(id, clock, vfs_read_data(count), 100 + cpu);
        FileBytes bytes = packet.bytes();
        bytes.resize(packet.end());
        writer_.packet(packet_bytes(bytes));
        writer_.flush();
    }

    Pairing paired() {
        writer_.end();
        writer_.flush();
        const FileBytes bytes = contents(fd_);
        WorkerPool workers(2);
        const EventFilter everything;
        DecodeJob job;
        job.filter = &everything;
        const Fd first = memory_file(bytes);
        TraceReader surveyed(first.get(), "memory", workers, job);
        const TraceSurvey survey = survey_trace(surveyed);
        const Fd second = memory_file(bytes);
        TraceReader reader(second.get(), "memory", workers, job);
        const RecordedValue on{"count", "count"};
        TracePairing pairing(reader, survey, {EventKeys({}, on), EventKeys({}, on), Buckets{Buckets::Kind::log2}},
                             parse_spec("vfs_read", PatternSyntax::glob), parse_spec("vfs_write", PatternSyntax::glob));
        pairing.run(nullptr, [] {});
        return pairing.pairing();
    }

    Fd memory() {
        Fd file = memory_file();
        fd_ = ::dup(file.get());
        return file;
    }

    int fd_ = -1;
    std::array<std::uint64_t, 2> seq_{};
    TraceWriter writer_;
};

constexpr std::uint64_t one_second = 1000000000;

TEST_F(RecordedPairs, BelongTogetherByAValue) {
    call(0, 1, one_second, 7);
    call(1, 2, 3 * one_second, 7);
    call(0, 1, 4 * one_second, 7);
    call(1, 2, 5 * one_second, 7);
    const Pairing pairing = paired();
    EXPECT_EQ(pairing.pairs().entries().at({}).total, (Tally{2, 0, 3 * one_second, one_second, 2 * one_second}));
    EXPECT_EQ(pairing.unpaired().lost, 0u);
}

// The end of the first call and the beginning of the second are lost: what is left looks like one call of four seconds.
TEST_F(RecordedPairs, AreNotMadeUpOfTwoCalls) {
    call(0, 1, one_second, 7);
    call(1, 2, 5 * one_second, 7, 2);
    call(0, 1, 6 * one_second, 7);
    call(1, 2, 7 * one_second, 7, 2);
    const Pairing pairing = paired();
    EXPECT_EQ(pairing.pairs().entries().at({}).total, (Tally{1, 0, one_second, one_second, one_second}));
    EXPECT_EQ(pairing.unpaired().lost, 1u);
    EXPECT_EQ(pairing.unpaired().ends, 1u);
}

} // namespace
} // namespace argtrace
