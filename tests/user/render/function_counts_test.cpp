// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include "render/function_counts.h"

namespace argtrace {
namespace {

TEST(FunctionCounts, TheInnermostOneIsItselfAndARecursiveOneCountsOnce) {
    FunctionCounts functions;
    add_samples(functions, {"main", "walk", "walk", "leaf"}, 3);
    add_samples(functions, {"main", "walk", "walk"}, 2);
    ASSERT_EQ(functions.size(), 3u);
    EXPECT_EQ(functions["main"].self, 0u);
    EXPECT_EQ(functions["main"].total, 5u);
    EXPECT_EQ(functions["walk"].self, 2u);
    EXPECT_EQ(functions["walk"].total, 5u);
    EXPECT_EQ(functions["leaf"].self, 3u);
    EXPECT_EQ(functions["leaf"].total, 3u);
}

TEST(FunctionCounts, PercentOfNothingIsNone) {
    EXPECT_EQ(percent(0, 0), 0);
    EXPECT_EQ(percent(1, 4), 25);
}

} // namespace
} // namespace argtrace
