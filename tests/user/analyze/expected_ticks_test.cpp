// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/expected_ticks.h"

#include <gtest/gtest.h>

namespace argtrace {
namespace {

constexpr Timer clock_timer{ARGTRACE_TIMER_CPU_CLOCK, 1000, false};
constexpr Timer cycle_timer{ARGTRACE_TIMER_CYCLES, 1000, false};

argtrace_counts counts(std::uint64_t records, std::uint64_t filtered = 0) {
    argtrace_counts counts{};
    counts.records = records;
    counts.filtered = filtered;
    return counts;
}

TEST(ExpectedTicks, TimeIsReadFromTheFirstLine) {
    const auto time = parse_cpu_time("cpu  100 20 30 4000 500 6 7 80 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n", 100);
    ASSERT_TRUE(time);
    EXPECT_DOUBLE_EQ(time->busy, 1.63);
    EXPECT_DOUBLE_EQ(time->idle, 45.0);
    EXPECT_DOUBLE_EQ(time->since({1, 5}).busy, 0.63);
    EXPECT_DOUBLE_EQ(time->since({1, 5}).idle, 40.0);
}

TEST(ExpectedTicks, OtherTextHasNoTime) {
    for (const char *text : {"", "cpu", "cpu ", "cpu0 1 2 3 4 5 6 7", "cpu  1 2 3 4 5 6", "cpu  1 2 three 4 5 6 7", "cpu  1 2 -3 4 5 6 7"})
        EXPECT_FALSE(parse_cpu_time(text, 100)) << text;
}

TEST(ExpectedTicks, BusyProcessorsAreLookedAtWhereIdleOnesAreKnown) {
    // Two seconds of busy processors.
    const CpuTime time{2, 1000};
    EXPECT_FALSE(missing_ticks(clock_timer, time, counts(1000 + 5), 5));
    const auto missing = missing_ticks(clock_timer, time, counts(999 + 1000000), 1000000);
    ASSERT_TRUE(missing);
    EXPECT_EQ(missing->expected, 2000u);
    EXPECT_EQ(missing->received, 999u);
}

TEST(ExpectedTicks, AllProcessorsAreLookedAtWhereIdleOnesAreNotKnown) {
    const CpuTime time{2, 8};
    EXPECT_FALSE(missing_ticks(clock_timer, time, counts(5000), std::nullopt));
    EXPECT_TRUE(missing_ticks(clock_timer, time, counts(4999), std::nullopt));
    // A filter rejects the ticks of idle processors, too.
    EXPECT_FALSE(missing_ticks(clock_timer, time, counts(0, 5000), 0));
    EXPECT_TRUE(missing_ticks(clock_timer, time, counts(0, 4999), 0));
    // They have stacks as others do.
    constexpr Timer with_idle{ARGTRACE_TIMER_CPU_CLOCK, 1000, true};
    EXPECT_TRUE(missing_ticks(with_idle, time, counts(4999), 0));
    // Their cycles are not counted.
    EXPECT_FALSE(missing_ticks(cycle_timer, time, counts(0, 1000), 0));
    EXPECT_TRUE(missing_ticks(cycle_timer, time, counts(0, 999), 0));
}

TEST(ExpectedTicks, TicksThatWereLostHaveCome) {
    argtrace_counts lost = counts(400);
    lost.lost[ARGTRACE_LOST_FULL] = 600;
    EXPECT_FALSE(missing_ticks(clock_timer, {2, 0}, lost, 0));
}

TEST(ExpectedTicks, ALittleTimeSaysNothing) {
    EXPECT_FALSE(missing_ticks(clock_timer, {0.4, 0}, counts(0), 0));
    constexpr Timer slow{ARGTRACE_TIMER_CPU_CLOCK, 9, false};
    EXPECT_FALSE(missing_ticks(slow, {10, 0}, counts(0), 0));
    EXPECT_TRUE(missing_ticks(slow, {12, 0}, counts(0), 0));
}

TEST(ExpectedTicks, TheSentenceNamesTheLimitWhereThatIsTheReason) {
    const MissingTicks missing{2000, 600};
    EXPECT_EQ(missing_ticks_sentence(clock_timer, missing, 250),
              "600 of about 2000 ticks came; the others are in no count: perf pauses what ticks more than 250 times a second, which is "
              "kernel.perf_event_max_sample_rate: raise that with sysctl, or kernel.perf_cpu_time_max_percent if the kernel lowers it "
              "again, or give a lower -F");
    for (const auto limit : {std::optional<std::uint64_t>(1000), std::optional<std::uint64_t>()}) {
        EXPECT_EQ(missing_ticks_sentence(clock_timer, missing, limit),
                  "600 of about 2000 ticks came; the others are in no count: the processors cannot be interrupted so often: give a lower -F");
        EXPECT_EQ(missing_ticks_sentence(cycle_timer, missing, limit),
                  "600 of about 2000 ticks came; the others are in no count: the processors cannot be interrupted so often, or share their "
                  "counter with other users of perf: give a lower -F, or -e cpu-clock");
    }
}

} // namespace
} // namespace argtrace
