// SPDX-License-Identifier: GPL-2.0-only
#include <string>

#include <gtest/gtest.h>

#include "answer/aggregate_keys.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

/// "comm pid", with + behind it where func was added.
std::string keys_of(const std::string &by, bool stacks = false, bool ticks = false) {
    AggregateOptions options;
    options.by = by;
    options.stacks = stacks;
    if (ticks)
        options.timer.emplace();
    const Keys keys = parse_keys(options);
    std::string text;
    for (const lang::ArgumentExpression &key : keys.values)
        text += (text.empty() ? "" : " ") + key.name;
    return text + (keys.func_added ? "+" : "");
}

TEST(AggregateKeys, AreThoseOfByOrTheFunction) {
    EXPECT_EQ(keys_of(""), "func+");
    EXPECT_EQ(keys_of("comm, count as size"), "comm size");
    EXPECT_EQ(keys_of("func,pid"), "func pid");
}

TEST(AggregateKeys, EndWithTheFunctionAndItsStack) {
    EXPECT_EQ(keys_of("", true), "func stack+");
    EXPECT_EQ(keys_of("comm", true), "comm func stack+");
    EXPECT_EQ(keys_of("func,comm", true), "func comm stack");
    EXPECT_EQ(keys_of("comm", true, true), "comm stack") << "ticks have no function";
}

TEST(AggregateKeys, HaveNamesOfTheirOwn) {
    EXPECT_EQ(thrown([] { keys_of("comm,pid as comm"); }),
              "--by: two keys have the name comm: leave one out, or give it another name with 'as NAME'");
    EXPECT_EQ(thrown([] { keys_of("stack", true); }),
              "--by: two keys have the name stack: leave one out, or give it another name with 'as NAME'");
    EXPECT_EQ(thrown([] { keys_of("("); }).find("--by: "), 0u);
}

bool is_duration(const std::string &spec, bool is_argument = false) {
    return value_is_duration({parse_spec(spec, PatternSyntax::glob)}, is_argument);
}

TEST(AggregateKeys, WhichValuesAreDurations) {
    EXPECT_TRUE(is_duration("vfs_read(duration)"));
    EXPECT_TRUE(is_duration("vfs_read($duration)"));
    EXPECT_TRUE(is_duration("vfs_read($duration)", true));
    EXPECT_FALSE(is_duration("msleep(duration)", true)) << "its argument is meant";
    EXPECT_FALSE(is_duration("vfs_read(count)"));
    EXPECT_FALSE(is_duration("vfs_read"));
    EXPECT_FALSE(is_duration("!vfs_read")) << "there is no value";
}

} // namespace
} // namespace argtrace
