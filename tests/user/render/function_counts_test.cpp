// SPDX-License-Identifier: GPL-2.0-only
#include <map>

#include <gtest/gtest.h>

#include "render/function_counts.h"

namespace argtrace {
namespace {

TEST(FunctionCounts, TheInnermostOneIsItselfAndARecursiveOneCountsOnce) {
    struct : Symbols {
        std::optional<Symbol> find(CodePlace) const override { return std::nullopt; }
    } none;
    CallerNames names(none);
    const auto number = [&names](const char *name) { return StackFrame{names.number(name)}; };
    for (int i = 0; i < 100; ++i) // which are on no stack
        names.number("other" + std::to_string(i));
    FunctionCounts counts;
    counts.add(std::vector{number("main"), number("walk"), number("walk"), number("leaf")}, 3);
    counts.add(std::vector{number("main"), number("walk"), number("walk")}, 2);
    const auto functions = counts.by_name(names);
    ASSERT_EQ(functions.size(), 3u);
    EXPECT_EQ(functions[0].first, "leaf");
    EXPECT_EQ(functions[0].second.self, 3u);
    EXPECT_EQ(functions[0].second.total, 3u);
    EXPECT_EQ(functions[1].first, "main");
    EXPECT_EQ(functions[1].second.self, 0u);
    EXPECT_EQ(functions[1].second.total, 5u);
    EXPECT_EQ(functions[2].first, "walk");
    EXPECT_EQ(functions[2].second.self, 2u);
    EXPECT_EQ(functions[2].second.total, 5u);
}

TEST(FunctionCounts, PercentOfNothingIsNone) {
    EXPECT_EQ(percent(0, 0), 0);
    EXPECT_EQ(percent(1, 4), 25);
}

} // namespace
} // namespace argtrace
