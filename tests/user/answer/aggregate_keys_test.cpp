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

TEST(AggregateKeys, EndWithTheStacksThatAreShown) {
    AggregateOptions options;
    options.stacks = true;
    options.style.stack = both_stacks;
    const auto names = [&options] {
        std::string text;
        for (const lang::ArgumentExpression &key : parse_keys(options).values)
            text += (text.empty() ? "" : " ") + key.name;
        return text;
    };
    EXPECT_EQ(names(), "func stack ustack");
    EXPECT_EQ(parse_keys(options).func_of_stacks, 0u);
    options.style.stack = user_stack;
    EXPECT_EQ(names(), "func ustack");
    options.by = "comm";
    EXPECT_EQ(parse_keys(options).func_of_stacks, 1u);
    options.timer.emplace();
    EXPECT_EQ(names(), "comm stack ustack") << "the kernel's tells of idle CPUs";
    EXPECT_EQ(parse_keys(options).func_of_stacks, std::nullopt);
    std::vector<KeyColumn> columns{{"comm"}, {"stack"}, {"ustack"}};
    hide_stacks(columns, options);
    ASSERT_EQ(columns.size(), 2u);
    EXPECT_EQ(columns[1].name, "ustack");
}

TEST(AggregateKeys, TheFunctionOfUserCodeIsThatOfItsStack) {
    AggregateOptions options;
    options.by = "comm,ufunc";
    const Keys keys = parse_keys(options);
    ASSERT_EQ(keys.values.size(), 2u);
    EXPECT_EQ(keys.values[1].name, "ufunc");
    EXPECT_EQ(keys.values[1].expression.written(), "ustack");
}

TEST(AggregateKeys, OfARecordingMayLackOneOfTheStacks) {
    AggregateOptions options;
    options.stacks = true;
    options.style.stack = both_stacks;
    std::vector<RecordedValue> keys = recorded_keys(options, parse_keys(options));
    ASSERT_EQ(keys.size(), 3u);
    EXPECT_EQ(keys[0].absent_stack, std::nullopt);
    EXPECT_EQ(keys[1].absent_stack, std::uint64_t{ARGTRACE_STACK_ID_USER});
    EXPECT_EQ(keys[2].absent_stack, std::uint64_t{ARGTRACE_STACK_ID_NO_USER});
    options.stack_choice = both_stacks;
    keys = recorded_keys(options, parse_keys(options));
    EXPECT_EQ(keys[1].absent_stack, std::nullopt) << "it was asked for";
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
