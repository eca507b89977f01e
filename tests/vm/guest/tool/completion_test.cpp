// SPDX-License-Identifier: GPL-2.0-only
// The shell's completion of function names, which takes a kernel to ask.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

/// The completions that bash offers for the line, sorted; the line is split into words as bash
/// does.
std::vector<std::string> offers(const std::string &line, const std::string &words) {
    const Outcome outcome = run({"bash", "-c",
                                 ". /root/argtrace.bash; COMP_LINE='" + line +
                                     "' COMP_POINT=${#COMP_LINE} COMP_WORDS=(" + words +
                                     ") COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _argtrace; printf "
                                     "'%s\\n' \"${COMPREPLY[@]}\""});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::istringstream lines(outcome.out);
    std::vector<std::string> result;
    for (std::string name; std::getline(lines, name);)
        result.push_back(name);
    std::ranges::sort(result);
    return result;
}

class Completion : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
    }
    void TearDown() override { run({"argtrace", "clear"}); }
};

using Names = std::vector<std::string>;

TEST_F(Completion, functions_that_ftrace_can_trace) {
    EXPECT_EQ(offers("argtrace add at_fou", "argtrace add at_fou"), Names{"at_four"});
    EXPECT_EQ(offers("argtrace trace vfs_getattr_nos", "argtrace trace vfs_getattr_nos"),
              Names{"vfs_getattr_nosec"});
}

TEST_F(Completion, functions_of_a_module) {
    EXPECT_EQ(offers("argtrace add argtrace_test:at_fou", "argtrace add argtrace_test : at_fou"),
              Names{"at_four"});
    EXPECT_EQ(offers("argtrace add vmlinux:at_fou", "argtrace add vmlinux : at_fou"), Names{""});
}

TEST_F(Completion, traced_functions_for_rm) {
    ASSERT_EQ(run({"argtrace", "add", "at_four", "at_two"}).status, 0);
    EXPECT_EQ(offers("argtrace rm at_", "argtrace rm at_"), (Names{"at_four", "at_two"}));
    ASSERT_EQ(run({"argtrace", "rm", "at_two"}).status, 0);
    EXPECT_EQ(offers("argtrace rm at_", "argtrace rm at_"), Names{"at_four"});
}

TEST_F(Completion, commands_and_options_of_the_tool) {
    EXPECT_EQ(offers("argtrace stat", "argtrace stat"), Names{"status"});
    EXPECT_EQ(offers("argtrace trace --max", "argtrace trace --max"),
              (Names{"--max-events", "--max-rate", "--max-wait"}));
}

} // namespace
} // namespace vmtest
