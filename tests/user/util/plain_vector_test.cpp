// SPDX-License-Identifier: GPL-2.0-only
#include "util/plain_vector.h"

#include <span>
#include <utility>

#include <gtest/gtest.h>

namespace argtrace {
namespace {

TEST(PlainVector, GrowsByWhatTheCallerFillsIn) {
    PlainVector<unsigned> numbers;
    EXPECT_TRUE(numbers.empty());
    EXPECT_TRUE(std::span<const unsigned>(numbers).empty());
    for (unsigned i = 0; i < 1000; ++i) {
        unsigned *const two = numbers.extend(2);
        two[0] = i;
        two[1] = 2 * i;
    }
    ASSERT_EQ(numbers.size(), 2000u);
    for (unsigned i = 0; i < 1000; ++i) {
        EXPECT_EQ(numbers[2 * i], i);
        EXPECT_EQ(numbers[2 * i + 1], 2 * i);
    }
    numbers.shrink(3);
    EXPECT_EQ(numbers, (PlainVector<unsigned>{0, 0, 1}));
    numbers.shrink(5);
    EXPECT_EQ(numbers.size(), 3u);
    numbers.clear();
    EXPECT_TRUE(numbers.empty());
}

TEST(PlainVector, APushedElementMayBeItsOwn) {
    PlainVector<unsigned> numbers{7};
    for (unsigned i = 0; i < 100; ++i)
        numbers.push_back(numbers[0]);
    EXPECT_EQ(numbers.size(), 101u);
    EXPECT_EQ(numbers.back(), 7u);
}

TEST(PlainVector, CopiesAndMoves) {
    const PlainVector<unsigned> numbers{1, 2, 3};
    PlainVector<unsigned> copy = numbers;
    EXPECT_EQ(copy, numbers);
    copy[0] = 5;
    EXPECT_FALSE(copy == numbers);
    PlainVector<unsigned> moved = std::move(copy);
    EXPECT_EQ(moved, (PlainVector<unsigned>{5, 2, 3}));
    copy = numbers; // NOLINT: it has been moved from, and is empty
    EXPECT_EQ(copy, numbers);
    moved = std::move(copy);
    EXPECT_EQ(moved, numbers);
}

} // namespace
} // namespace argtrace
