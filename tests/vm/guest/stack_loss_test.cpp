// SPDX-License-Identifier: GPL-2.0-only
// Calls whose stacks have no room: the tool says how many they are, and why.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "command.h"
#include "device.h"
#include "machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

constexpr std::uint64_t calls_without_stack = 300;

/// The session of `add`, with room for no stack at all.
class StackLoss : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
        ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
        RawDevice device;
        ASSERT_EQ(device.session("default"), 0);
        argtrace_stacks stacks{};
        stacks.size = sizeof(stacks);
        stacks.entries = ARGTRACE_STACK_ENTRIES_MIN;
        stacks.words = 1;
        ASSERT_EQ(device.call(ARGTRACE_IOC_STACKS, &stacks), 0);
        const Outcome added = run({"argtrace", "add", "--stack", "at_four"});
        ASSERT_EQ(added.status, 0) << added.err;
    }
    void TearDown() override { EXPECT_EQ(run({"argtrace", "clear"}).status, 0); }
};

TEST_F(StackLoss, is_told_by_cause) {
    const json none{{"full", 0}, {"recursion", 0}, {"unknown", 0}};
    EXPECT_EQ(json_lines(run({"argtrace", "status", "--json"}).out).back()["stacks_lost"], none);
    call_functions("burst", calls_without_stack);
    const json totals = json_lines(run({"argtrace", "status", "--json"}).out).back();
    const json expected{{"full", calls_without_stack}, {"recursion", 0}, {"unknown", 0}};
    EXPECT_EQ(totals["stacks_lost"], expected) << totals;
    EXPECT_EQ(totals["faults"], calls_without_stack) << totals;
    const std::string sentence = "300 calls have no stack: 300 with no room for one more";
    const std::string status = run({"argtrace", "status"}).out;
    EXPECT_NE(status.find('\n' + sentence + '\n'), std::string::npos) << status;

    const Outcome trace = run({"argtrace", "trace", "--json", "-n", std::to_string(calls_without_stack)});
    EXPECT_NE(trace.err.find(sentence), std::string::npos) << trace.err;
    EXPECT_EQ(json_summary(trace.out)["stacks_lost"], expected);
    for (const json &event : json_lines(trace.out))
        EXPECT_TRUE(event["stack"].is_null()) << event;
}

TEST_F(StackLoss, is_none_of_sessions_without_stacks) {
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    ASSERT_EQ(run({"argtrace", "add", "at_four"}).status, 0);
    EXPECT_FALSE(json_lines(run({"argtrace", "status", "--json"}).out).back().contains("stacks_lost"));
}

} // namespace
} // namespace vmtest
