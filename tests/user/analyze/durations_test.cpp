// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "analyze/duration_histogram.h"
#include "analyze/self_times.h"

namespace argtrace {
namespace {

TEST(DurationHistogram, IsExactForFew) {
    DurationHistogram none;
    EXPECT_EQ(none.percentile(0.5), 0u);
    EXPECT_EQ(none.mean(), 0u);
    DurationHistogram one;
    one.add(1234567);
    EXPECT_EQ(one.percentile(0), 1234567u) << "no more than the longest";
    EXPECT_EQ(one.percentile(0.99), 1234567u);
    EXPECT_EQ(one.max(), 1234567u);
    EXPECT_EQ(one.mean(), 1234567u);
    DurationHistogram extremes;
    extremes.add(0);
    extremes.add(~std::uint64_t{0});
    EXPECT_EQ(extremes.percentile(0.4), 0u);
    EXPECT_EQ(extremes.percentile(1), ~std::uint64_t{0});
}

TEST(DurationHistogram, PercentilesAreRightToWithinA32nd) {
    std::mt19937_64 random(11);
    std::vector<std::uint64_t> all;
    DurationHistogram histogram;
    for (int i = 0; i < 20000; ++i) {
        all.push_back(random() >> (random() % 64));
        histogram.add(all.back());
    }
    std::sort(all.begin(), all.end());
    for (const double share : {0.01, 0.25, 0.5, 0.9, 0.99, 0.999}) {
        const auto exact =
            static_cast<double>(all[static_cast<std::size_t>(share * static_cast<double>(all.size()))]);
        const auto told = static_cast<double>(histogram.percentile(share));
        EXPECT_GE(told, exact) << share;
        EXPECT_LE(told, exact * (1 + 1.0 / 32) + 1) << share;
    }
}

class SelfTimesTest : public testing::Test {
protected:
    std::uint64_t add(std::uint64_t begin, std::uint64_t end, std::uint32_t tid = 1) {
        Event event;
        event.ts = begin;
        event.duration = end - begin;
        event.tid = tid;
        return times.add(event);
    }

    SelfTimes times;
};

TEST_F(SelfTimesTest, AreWithoutTheCallsInside) {
    EXPECT_EQ(add(20, 30), 10u);
    EXPECT_EQ(add(42, 44), 2u);
    EXPECT_EQ(add(40, 50), 8u);
    EXPECT_EQ(add(41, 49, 2), 8u) << "another task";
    EXPECT_EQ(add(10, 60), 30u) << "those in a call are in it once";
    EXPECT_EQ(add(70, 80), 10u);
}

TEST_F(SelfTimesTest, HoldForMoreCallsThanAreKept) {
    std::uint64_t time = 1;
    for (int i = 0; i < 100000; ++i, time += 10)
        EXPECT_EQ(add(time + 1, time + 4), 3u);
    EXPECT_EQ(add(0, time + 10), time + 10 - 300000);
}

} // namespace
} // namespace argtrace
