// SPDX-License-Identifier: GPL-2.0-only
// Calls whose stacks have no room: the tool says how many they are, and why.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

constexpr std::uint64_t calls_without_stack = 300;

void set_memory_limit(unsigned mebibytes) {
    std::ofstream limit("/sys/module/argtrace/parameters/memory_limit_mb");
    limit << mebibytes << std::flush;
    ASSERT_TRUE(limit.good());
}

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
    EXPECT_NE(trace.err.find("make room for more stacks: `argtrace clear`, then `argtrace add --stack-table-size 512 ...`"),
              std::string::npos)
        << trace.err;
    EXPECT_EQ(json_summary(trace.out)["stacks_lost"], expected);
    for (const json &event : json_lines(trace.out))
        EXPECT_TRUE(event["stack"].is_null()) << event;
}

TEST_F(StackLoss, is_none_of_sessions_without_stacks) {
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    ASSERT_EQ(run({"argtrace", "add", "at_four"}).status, 0);
    EXPECT_FALSE(json_lines(run({"argtrace", "status", "--json"}).out).back().contains("stacks_lost"));
}

/// Tables of a size that was asked for.
class StackTable : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
        ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    }
    void TearDown() override {
        set_memory_limit(0);
        EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
    }

    /// What the session of `add` has.
    static argtrace_stacks described() {
        RawDevice device;
        argtrace_stacks stacks{};
        stacks.size = sizeof(stacks);
        stacks.flags = ARGTRACE_STACKS_EXISTING;
        EXPECT_EQ(device.session("default"), 0);
        EXPECT_EQ(device.call(ARGTRACE_IOC_STACKS, &stacks), 0);
        return stacks;
    }
};

TEST_F(StackTable, has_the_size_that_was_asked_for) {
    ASSERT_EQ(run({"argtrace", "add", "--stack", "--stack-table-size", "1000", "at_four"}).status, 0);
    EXPECT_EQ(described().entries, 1024u);
    EXPECT_EQ(described().words, 1024u * 16);
    EXPECT_EQ(run({"argtrace", "add", "--stack", "--stack-table-size", "1024", "at_bool"}).status, 0);
    const Outcome other = run({"argtrace", "add", "--stack", "--stack-table-size", "2048", "at_u64"});
    EXPECT_EQ(other.status, 1);
    EXPECT_EQ(other.err, "argtrace: there is a session already, with room for 1024 stacks on each CPU: end it with `argtrace clear` "
                         "before you use --stack-table-size 2048\n");
    EXPECT_FALSE(is_armed("at_u64"));
}

TEST_F(StackTable, is_that_of_a_session_which_had_none) {
    ASSERT_EQ(run({"argtrace", "add", "at_four"}).status, 0);
    ASSERT_EQ(run({"argtrace", "add", "--stack", "--stack-table-size", "64", "at_bool"}).status, 0);
    EXPECT_EQ(described().entries, 64u);
}

TEST_F(StackTable, is_there_before_a_module_is_loaded) {
    const Outcome added =
        run({"argtrace", "add", "--stack", "--stack-table-size", "128", "--on-load", "/root/argtrace_onload.ko", "*"});
    ASSERT_EQ(added.status, 0) << added.err;
    EXPECT_EQ(described().entries, 128u);
    EXPECT_EQ(run({"argtrace", "rm", "--on-load", "argtrace_onload"}).status, 0);
}

TEST_F(StackTable, is_refused_where_no_stack_is_taken) {
    const Outcome added = run({"argtrace", "add", "--stack-table-size", "128", "at_four"});
    EXPECT_EQ(added.status, 1);
    EXPECT_EQ(added.err, "argtrace: --stack-table-size makes room for stacks, and none are taken: ask for them, with --stack or --by "
                         "stack, or leave it out\n");
    EXPECT_FALSE(is_armed("at_four"));
}

/// It is charged before anything is traced, and each command asks for it.
TEST_F(StackTable, is_charged_up_front) {
    set_memory_limit(64);
    const std::string most = std::to_string(ARGTRACE_STACK_ENTRIES_MAX);
    const std::vector<std::vector<std::string>> commands{
        {"add", "--stack", "at_four"},          {"trace", "--stack", "-n", "1", "at_four"},
        {"record", "--stack", "-o", "/tmp/stacks.dat", "at_four"}, {"stacks", "at_four"},
        {"count", "--by", "stack", "at_four"},  {"profile", "--duration", "1"},
        {"offcpu", "--duration", "1"},
    };
    for (const std::vector<std::string> &words : commands) {
        std::vector<std::string> command{"argtrace", words[0], "--stack-table-size", most};
        command.insert(command.end(), words.begin() + 1, words.end());
        const Outcome refused = run(command);
        EXPECT_EQ(refused.status, 1) << words[0];
        EXPECT_NE(refused.err.find("argtrace: room for 1048576 stacks on each CPU would pass the module's memory limit of 64M ("),
                  std::string::npos)
            << words[0] << ": " << refused.err;
        EXPECT_NE(refused.err.find("use a smaller --stack-table-size"), std::string::npos) << refused.err;
        EXPECT_FALSE(is_armed("at_four")) << words[0];
    }
}

} // namespace
} // namespace vmtest
