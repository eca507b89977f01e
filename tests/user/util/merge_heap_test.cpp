// SPDX-License-Identifier: GPL-2.0-only
#include "util/merge_heap.h"

#include <random>
#include <utility>

#include <gmock/gmock.h>

namespace argtrace {
namespace {

using testing::ElementsAre;

/// Times, and the rank of the source that each comes from.
using Merged = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

struct Source {
    std::vector<std::uint64_t> times;
    std::size_t next = 0;
};

/// `ranks`: by source; empty: as they are in order.
Merged merge(std::vector<Source> sources, const std::vector<std::uint32_t> &ranks = {}) {
    MergeHeap<Source> heap;
    for (std::uint32_t i = 0; i < sources.size(); ++i) {
        if (!sources[i].times.empty())
            heap.add(sources[i].times.front(), ranks.empty() ? i : ranks[i], sources[i]);
    }
    heap.order();
    Merged merged;
    while (!heap.empty()) {
        const auto front = heap.front();
        Source &source = *front.source;
        EXPECT_EQ(front.time, source.times[source.next]);
        merged.emplace_back(front.time, front.rank);
        if (++source.next < source.times.size())
            heap.advance(source.times[source.next]);
        else
            heap.drop();
    }
    return merged;
}

TEST(MergeHeap, HandsOutTheOldestFirst) {
    EXPECT_THAT(merge({{{3, 6}}, {{1, 2, 7}}, {{4}}}),
                ElementsAre(std::pair(1, 1), std::pair(2, 1), std::pair(3, 0), std::pair(4, 2),
                            std::pair(6, 0), std::pair(7, 1)));
}

TEST(MergeHeap, OfTheSameTimeTheLowestRankFirst) {
    EXPECT_THAT(merge({{{5, 5}}, {{5}}, {{5}}}, {2, 0, 1}),
                ElementsAre(std::pair(5, 0), std::pair(5, 1), std::pair(5, 2), std::pair(5, 2)));
}

TEST(MergeHeap, OfNothingIsEmpty) {
    EXPECT_TRUE(merge({}).empty());
    EXPECT_TRUE(merge({{}, {}}).empty());
    EXPECT_THAT(merge({{}, {{UINT64_MAX}}}), ElementsAre(std::pair(UINT64_MAX, 1)));
}

TEST(MergeHeap, IsUsedAnew) {
    Source first{{1}}, second{{2}};
    MergeHeap<Source> heap;
    heap.add(1, 0, first);
    heap.order();
    heap.clear();
    EXPECT_TRUE(heap.empty());
    heap.add(2, 0, second);
    heap.order();
    EXPECT_EQ(heap.front().source, &second);
}

TEST(MergeHeap, AgreesWithSorting) {
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
        std::vector<Source> sources(random() % 9);
        Merged expected;
        for (std::uint32_t i = 0; i < sources.size(); ++i) {
            std::uint64_t time = 0;
            for (std::size_t n = random() % 20; n > 0; --n) {
                time += random() % 4;
                sources[i].times.push_back(time);
                expected.emplace_back(time, i);
            }
        }
        std::sort(expected.begin(), expected.end());
        ASSERT_EQ(merge(sources), expected) << round;
    }
}

} // namespace
} // namespace argtrace
