// SPDX-License-Identifier: GPL-2.0-only
#include "spec/strace_line.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace argtrace {
namespace {

std::string line_of(const std::vector<std::string> &words) {
    return fmt::format("{}", fmt::join(strace_line(words), " "));
}

TEST(StraceLine, DoesTheSame) {
    EXPECT_EQ(line_of({}), "trace -d -r s:*");
    EXPECT_EQ(line_of({"ls", "-l"}), "trace -d -r s:* -- ls -l");
    EXPECT_EQ(line_of({"-f", "--", "make"}), "trace -d -r s:* -F -- make");
    EXPECT_EQ(line_of({"-ff", "-ttT", "-yy", "-s", "100", "-o", "log", "make", "-f", "x"}), "trace -d -r --text-size 100 s:* -F -- make -f x");
    EXPECT_EQ(line_of({"--string-limit=7", "ls"}), "trace -d -r --text-size 7 s:* -- ls");
    EXPECT_EQ(line_of({"-c", "-s", "7", "ls"}), "count --by func,ret s:* -- ls");
    EXPECT_EQ(line_of({"-p", "12", "-p13"}), "trace -d -r s:* -p 12 -p 13");
    EXPECT_EQ(line_of({"-e", "trace=openat,%network", "-e", "signal=none", "ls"}), "trace -d -r s:openat s:%network -- ls");
    EXPECT_EQ(line_of({"-eopen,/read", "-f", "ls"}), "trace -d -r s:open s:read -F -- ls");
    EXPECT_EQ(line_of({"--trace=!futex", "--follow-forks", "--attach=7"}), "trace -d -r s:* !s:futex -p 7 -F");
    EXPECT_EQ(line_of({"-c", "-f", "make"}), "count --by func,ret s:* -F -- make");
    EXPECT_EQ(line_of({"-fc", "-e"}), "count --by func,ret s:* -F");
}

} // namespace
} // namespace argtrace
