// SPDX-License-Identifier: GPL-2.0-only
#include "session/merge.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "support/fake_ring.h"

namespace argtrace {
namespace {

using test::FakeRing;
using test::vfs_read;

/// The clock of a round that hands out what is older than `limit`.
constexpr std::uint64_t up_to(std::uint64_t limit) {
    return limit + ARGTRACE_CLOCK_SLACK;
}

class MergeTest : public testing::Test {
protected:
    MergeTest() {
        schema.add(vfs_read(1));
        for (std::uint32_t cpu = 0; cpu < 3; ++cpu)
            rings.push_back(std::make_unique<FakeRing>(cpu));
        for (auto &ring : rings)
            views.push_back(ring->view());
    }

    struct Seen {
        std::uint64_t ts;
        std::uint32_t cpu;
        std::uint64_t count;
        bool operator==(const Seen &) const = default;
    };

    static std::vector<Seen> take(Merge &merge, std::size_t limit = ~std::size_t{0}) {
        std::vector<Seen> seen;
        while (seen.size() < limit) {
            auto view = merge.next();
            if (!view)
                break;
            seen.push_back({view->event->ts, view->event->cpu, view->values[2].low});
        }
        return seen;
    }

    FakeRing &ring(std::size_t cpu) { return *rings[cpu]; }

    Schema schema;
    std::vector<std::unique_ptr<FakeRing>> rings;
    std::vector<RingView> views;
};

TEST_F(MergeTest, InTheOrderOfTime) {
    Merge merge(views, schema);
    ring(2).call(10, 1);
    ring(0).call(20, 2);
    ring(2).call(30, 3);
    ring(1).call(40, 4);
    ring(0).call(50, 5);
    merge.collect(up_to(99000));
    EXPECT_EQ(take(merge),
              (std::vector<Seen>{{10, 2, 1}, {20, 0, 2}, {30, 2, 3}, {40, 1, 4}, {50, 0, 5}}));
    EXPECT_FALSE(merge.waiting());
}

TEST_F(MergeTest, TiesByCpu) {
    Merge merge(views, schema);
    ring(2).call(10, 1);
    ring(1).call(10, 2);
    ring(1).call(10, 3);
    ring(0).call(10, 4);
    merge.collect(up_to(99000));
    EXPECT_EQ(take(merge), (std::vector<Seen>{{10, 0, 4}, {10, 1, 2}, {10, 1, 3}, {10, 2, 1}}));
}

TEST_F(MergeTest, WaitsForWhatMayStillCome) {
    Merge merge(views, schema);
    ring(0).call(5000, 1);
    merge.collect(up_to(5000)); // not older than the clock less the slack
    EXPECT_TRUE(take(merge).empty());
    EXPECT_TRUE(merge.waiting());

    ring(1).call(4999, 2); // it had not been published yet
    merge.collect(up_to(5001));
    EXPECT_EQ(take(merge), (std::vector<Seen>{{4999, 1, 2}, {5000, 0, 1}}));
}

TEST_F(MergeTest, AWriterAtWorkHoldsEverythingBack) {
    Merge merge(views, schema);
    merge.collect(up_to(9000));
    ring(1).write(1, 11000, test::vfs_read_data(1));
    ring(1).control.active = 1; // its record is not complete
    ring(0).call(10500, 2);
    ring(0).call(12000, 3);
    merge.collect(up_to(99000));
    EXPECT_TRUE(take(merge).empty()); // CPU 1 guarantees nothing after 10000

    ring(1).control.active = 0; // the outermost writer has yet to publish it
    merge.collect(up_to(109000));
    EXPECT_TRUE(take(merge).empty());

    ring(1).publish();
    merge.collect(up_to(119000));
    EXPECT_EQ(take(merge), (std::vector<Seen>{{10500, 0, 2}, {11000, 1, 1}, {12000, 0, 3}}));
}

TEST_F(MergeTest, OldWatermarkStillCounts) {
    Merge merge(views, schema);
    ring(0).call(4000, 1);
    ring(0).call(9500, 2);
    merge.collect(up_to(2000));
    ring(1).control.active = 1;
    ring(2).control.active = 1;
    merge.collect(up_to(19000));
    EXPECT_TRUE(take(merge).empty());
    ring(1).control.active = 0;
    ring(2).control.active = 0;
    merge.collect(up_to(9000));
    EXPECT_EQ(take(merge).size(), 1u);
}

TEST_F(MergeTest, TheRestKnowsNoWatermark) {
    Merge merge(views, schema);
    ring(0).call(5000, 1);
    ring(1).call(4000, 2);
    ring(2).control.active = 1;
    ring(2).call(6000, 3);
    merge.collect_rest();
    EXPECT_EQ(take(merge), (std::vector<Seen>{{4000, 1, 2}, {5000, 0, 1}, {6000, 2, 3}}));
}

TEST_F(MergeTest, SteppedBackClockIsPutInOrder) {
    Merge merge(views, schema);
    ring(0).call(30, 1);
    const std::uint64_t after_first = ring(0).control.head;
    ring(0).call(10, 2);
    ring(0).call(20, 3);
    ring(1).call(15, 4);
    ring(0).call(40, 5);
    merge.collect(up_to(99000));
    EXPECT_EQ(take(merge, 1), (std::vector<Seen>{{10, 0, 2}}));
    merge.release();
    // The next one, at 20, comes after the one at 30 in the ring, which has not been handed out.
    EXPECT_LT(ring(0).reader.tail, after_first);
    Merge second(views, schema);
    second.collect_rest();
    EXPECT_EQ(take(second).size(), 5u);

    EXPECT_EQ(take(merge), (std::vector<Seen>{{15, 1, 4}, {20, 0, 3}, {30, 0, 1}, {40, 0, 5}}));
    merge.release();
    EXPECT_EQ(ring(0).reader.tail, ring(0).control.head);
}

TEST_F(MergeTest, WhatWasNotHandedOutIsThereForTheNextReader) {
    for (std::uint64_t i = 0; i < 12; ++i)
        ring(i % 3).call(100 + i, i);
    {
        Merge merge(views, schema);
        merge.collect(up_to(99000));
        EXPECT_EQ(take(merge, 5).size(), 5u);
        merge.release();
    }
    Merge merge(views, schema);
    merge.collect(up_to(99000));
    auto rest = take(merge);
    ASSERT_EQ(rest.size(), 7u);
    for (std::uint64_t i = 0; i < 7; ++i)
        EXPECT_EQ(rest[i].count, 5 + i);
}

TEST_F(MergeTest, NothingIsReleasedBeforeItIsAskedFor) {
    ring(0).call(100, 1);
    Merge merge(views, schema);
    merge.collect(up_to(99000));
    take(merge);
    EXPECT_EQ(ring(0).reader.tail, 0u);
    merge.release();
    EXPECT_EQ(ring(0).reader.tail, ring(0).control.head);
}

TEST_F(MergeTest, KeepsNothingWhereNobodyComesAfter) {
    ring(0).call(100, 1);
    Merge merge(views, schema, Merge::Keep::nothing);
    merge.collect(up_to(99000));
    EXPECT_EQ(ring(0).reader.tail, ring(0).control.head);
    EXPECT_EQ(take(merge), (std::vector<Seen>{{100, 0, 1}}));
    ring(0).call(200, 2);
    merge.release();
    EXPECT_LT(ring(0).reader.tail, ring(0).control.head);
    merge.collect_rest();
    EXPECT_EQ(ring(0).reader.tail, ring(0).control.head);
    EXPECT_EQ(take(merge), (std::vector<Seen>{{200, 0, 2}}));
}

TEST_F(MergeTest, PressureAndLoss) {
    Merge merge(views, schema);
    merge.collect(up_to(0));
    EXPECT_EQ(merge.pressure(), 0);
    while (ring(1).call(2000)) {
    }
    merge.collect(up_to(99000));
    EXPECT_GT(merge.pressure(), 0.7);
    EXPECT_LE(merge.pressure(), 1.0);
    EXPECT_EQ(merge.lost(), 1u);
    take(merge);
    merge.release();
    merge.collect(up_to(199000));
    EXPECT_EQ(merge.pressure(), 0);

    Merge later(views, schema); // counts from its construction on
    EXPECT_EQ(later.lost(), 0u);
}

TEST_F(MergeTest, ARingThatComesLaterIsReadFromItsStart) {
    Merge merge{std::span(views).subspan(1), schema};
    ring(2).call(200000, 1);
    ring(1).call(300000, 2);
    merge.collect(up_to(200000)); // holds both back
    while (ring(0).call(300000, 3)) {
    }
    merge.add(std::span(views).first(1));
    EXPECT_EQ(merge.lost(), 1u) << "lost since the ring was made";
    EXPECT_TRUE(take(merge).empty()) << "not before the next round";
    merge.collect(up_to(900000));
    const std::vector<Seen> seen = take(merge);
    ASSERT_GT(seen.size(), 10u);
    EXPECT_EQ(seen[0], (Seen{200000, 2, 1}));
    EXPECT_EQ(seen[1], (Seen{300000, 0, 3})) << "ties go by CPU, not by who came first";
    EXPECT_EQ(seen.back(), (Seen{300000, 1, 2}));
}

TEST_F(MergeTest, ARingThatHasJustComeHoldsTheOthersBack) {
    Merge merge{std::span(views).subspan(1), schema};
    merge.collect(up_to(100000));
    ring(1).call(400000, 1);
    ring(0).control.active = 1; // its first event may be an older one
    merge.add(std::span(views).first(1));
    merge.collect(up_to(900000));
    EXPECT_TRUE(take(merge).empty());
    ring(0).call(300000, 2);
    ring(0).control.active = 0;
    merge.collect(up_to(900000));
    EXPECT_EQ(take(merge), (std::vector<Seen>{{300000, 0, 2}, {400000, 1, 1}}));
}

TEST_F(MergeTest, UnreadableOfAllCpus) {
    ring(0).call(1, 1, 77);
    ring(2).call(1, 1, 78);
    Merge merge(views, schema);
    merge.collect_rest();
    EXPECT_EQ(merge.unreadable().records, 2u);
    EXPECT_EQ(merge.unreadable().why, DecodeStatus::unknown_probe);
}

// Writers and reader by turns, in a random but repeatable way: every call comes out once, and
// never after a younger one.
TEST_F(MergeTest, RandomRounds) {
    std::mt19937 random(7);
    Merge merge(views, schema);
    std::uint64_t now = 1000000, written = 0;
    std::vector<Seen> seen;
    std::vector<std::uint64_t> unpublished(3, 0);

    for (int step = 0; step < 20000; ++step) {
        now += random() % 3000;
        std::size_t cpu = random() % 3;
        switch (random() % 4) {
        case 0: // a call, begun and ended
            if (unpublished[cpu] == 0 && ring(cpu).call(now, written))
                ++written;
            break;
        case 1: // a writer begins
            if (unpublished[cpu] == 0 && ring(cpu).write(1, now, test::vfs_read_data(written))) {
                ++written;
                unpublished[cpu] = 1;
                ring(cpu).control.active = 1;
            }
            break;
        case 2: // and ends
            ring(cpu).publish();
            ring(cpu).control.active = 0;
            unpublished[cpu] = 0;
            break;
        default:
            merge.collect(now);
            for (const Seen &one : take(merge, random() % 5 == 0 ? 3 : 1000))
                seen.push_back(one);
            if (random() % 2)
                merge.release();
            break;
        }
    }
    for (auto &one : rings) {
        one->publish();
        one->control.active = 0;
    }
    merge.collect_rest();
    for (const Seen &one : take(merge))
        seen.push_back(one);

    EXPECT_GT(written, 2000u);
    EXPECT_EQ(seen.size(), written);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end(),
                               [](const Seen &a, const Seen &b) { return a.ts < b.ts; }));
    std::vector<std::uint64_t> counts;
    for (const Seen &one : seen)
        counts.push_back(one.count);
    std::sort(counts.begin(), counts.end());
    EXPECT_EQ(std::adjacent_find(counts.begin(), counts.end()), counts.end());
    EXPECT_EQ(merge.unreadable().records + merge.unreadable().packets, 0u);
}

} // namespace
} // namespace argtrace
