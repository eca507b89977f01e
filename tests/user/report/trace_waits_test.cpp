// SPDX-License-Identifier: GPL-2.0-only
#include "report/trace_waits.h"

#include <gtest/gtest.h>

#include "support/trace_builder.h"

namespace argtrace {
namespace {

using namespace test;

constexpr std::uint64_t slack = 10000, open_end = ~std::uint64_t{0};

/// A recording of packets that say how much was lost before them.
class SurveyTest : public testing::Test {
protected:
    SurveyTest() : writer_(memory(), "memory", std::nullopt) {
        writer_.info(some_info());
        writer_.probes(std::vector{vfs_read()});
    }
    ~SurveyTest() override { ::close(fd_); }

    /// With two calls, `clock` and 20 ns later.
    void packet(std::uint32_t cpu, std::uint64_t seq, std::uint64_t clock, std::uint64_t lost) {
        FileBytes bytes = packet_of(cpu, seq, clock, 20, 0, 2);
        reinterpret_cast<argtrace_packet *>(bytes.data())->lost = lost;
        writer_.packet(packet_bytes(bytes));
        writer_.flush();
    }

    TraceSurvey survey() {
        writer_.end();
        writer_.flush();
        return survey_so_far();
    }
    TraceSurvey survey_so_far() {
        writer_.flush();
        WorkerPool workers(2);
        const EventFilter everything;
        DecodeJob job;
        job.filter = &everything;
        const Fd file = memory_file(contents(fd_));
        TraceReader reader(file.get(), "memory", workers, job);
        return survey_trace(reader);
    }

    void expect_gap(const TraceSurvey &survey, std::uint64_t from, std::uint64_t to) {
        ASSERT_EQ(survey.gaps.size(), 1u);
        EXPECT_EQ(survey.gaps[0].from, from);
        EXPECT_EQ(survey.gaps[0].to, to);
    }

    Fd memory() {
        Fd file = memory_file();
        fd_ = ::dup(file.get());
        return file;
    }

    int fd_ = -1;
    TraceWriter writer_;
};

TEST_F(SurveyTest, WithoutLossThereIsNoGap) {
    packet(0, 0, 1000000, 0);
    packet(1, 0, 1500000, 0);
    packet(0, 1, 2000000, 0);
    writer_.span({900000, 3000000});
    const TraceSurvey known = survey();
    EXPECT_TRUE(known.gaps.empty());
    EXPECT_EQ(known.begin, 900000 + slack);
    EXPECT_EQ(known.end, 3000000u);
    EXPECT_EQ(known.last, 2000020u);
}

TEST_F(SurveyTest, ALossLiesBetweenTwoPacketsOfItsCpu) {
    packet(0, 0, 1000000, 0);
    packet(1, 0, 1500000, 0);
    packet(0, 1, 2000000, 3);
    packet(1, 1, 2500000, 0);
    packet(0, 2, 3000000, 3);
    const CpuLoss loss{0, 0, 3};
    writer_.loss(std::span(&loss, 1));
    expect_gap(survey(), 1000000 - slack, 2000000 + slack);
}

TEST_F(SurveyTest, WhatWasLostBeforeTheFirstPacketHasNoBeginning) {
    packet(0, 0, 1000000, 2);
    const CpuLoss loss{0, 0, 0};
    writer_.loss(std::span(&loss, 1));
    expect_gap(survey(), 0, 1000000 + slack);
}

TEST_F(SurveyTest, WhatWasLostBehindTheLastPacketHasNoEnd) {
    packet(0, 0, 1000000, 0);
    const CpuLoss loss{0, 0, 1};
    writer_.loss(std::span(&loss, 1));
    expect_gap(survey(), 1000000 - slack, open_end);
}

TEST_F(SurveyTest, ACpuWithoutPacketsMayHaveLostThemAtAnyTime) {
    packet(0, 0, 1000000, 0);
    const CpuLoss loss{1, 0, 1};
    writer_.loss(std::span(&loss, 1));
    expect_gap(survey(), 0, open_end);
}

TEST_F(SurveyTest, APacketThatIsMissingIsALoss) {
    packet(0, 0, 1000000, 0);
    packet(0, 2, 3000000, 0);
    expect_gap(survey(), 1000000 - slack, 3000000 + slack);
}

TEST_F(SurveyTest, WhatIsCutShortEndsWithItsLastMark) {
    packet(0, 0, 1000000, 0);
    writer_.mark(1000010);
    packet(0, 1, 2000000, 0);
    const TraceSurvey known = survey_so_far();
    EXPECT_EQ(known.begin, 0u);
    EXPECT_EQ(known.end, 1000010u);
}

} // namespace
} // namespace argtrace
