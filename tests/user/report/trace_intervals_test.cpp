// SPDX-License-Identifier: GPL-2.0-only
#include "report/trace_intervals.h"

#include <vector>

#include <gtest/gtest.h>

namespace argtrace {
namespace {

/// The ends of intervals of 10 ns, as they are shown.
struct Ends {
    std::vector<std::uint64_t> shown;
    std::size_t wanted = 100;

    TraceIntervals intervals(std::optional<std::uint64_t> most = std::nullopt) {
        return {10, most, [this](std::uint64_t end) {
                    shown.push_back(end);
                    return shown.size() < wanted;
                }};
    }
};

TEST(TraceIntervals, BeginWithTheFirstEvent) {
    Ends ends;
    TraceIntervals intervals = ends.intervals();
    for (const std::uint64_t time : {1003, 1012})
        EXPECT_TRUE(intervals.reach(time));
    EXPECT_TRUE(ends.shown.empty());
    EXPECT_TRUE(intervals.reach(1013));
    EXPECT_EQ(ends.shown, (std::vector<std::uint64_t>{1013})) << "it is the first of the second one";
    EXPECT_TRUE(intervals.reach(1044));
    EXPECT_EQ(ends.shown, (std::vector<std::uint64_t>{1013, 1023, 1033, 1043})) << "nothing happened in two of them";
    intervals.finish();
    EXPECT_EQ(ends.shown.back(), 1044u);
    EXPECT_FALSE(intervals.satisfied());
}

TEST(TraceIntervals, AreNoMoreThanWanted) {
    Ends ends;
    TraceIntervals intervals = ends.intervals(2);
    EXPECT_TRUE(intervals.reach(1000));
    EXPECT_TRUE(intervals.reach(1015));
    EXPECT_FALSE(intervals.reach(1025));
    EXPECT_FALSE(intervals.reach(1026));
    intervals.finish();
    EXPECT_EQ(ends.shown, (std::vector<std::uint64_t>{1010, 1020}));
    EXPECT_TRUE(intervals.satisfied());
    EXPECT_FALSE(intervals.abandoned());
}

TEST(TraceIntervals, EndWhenNobodyReadsThem) {
    Ends ends;
    ends.wanted = 1;
    TraceIntervals intervals = ends.intervals();
    EXPECT_TRUE(intervals.reach(1000));
    EXPECT_FALSE(intervals.reach(1025));
    intervals.finish();
    EXPECT_EQ(ends.shown.size(), 1u);
    EXPECT_TRUE(intervals.abandoned());
}

TEST(TraceIntervals, OfNothingAreNone) {
    Ends ends;
    TraceIntervals intervals = ends.intervals();
    intervals.finish();
    EXPECT_TRUE(ends.shown.empty());
}

} // namespace
} // namespace argtrace
