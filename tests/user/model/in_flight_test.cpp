// SPDX-License-Identifier: GPL-2.0-only
#include "model/in_flight.h"

#include <gtest/gtest.h>

namespace argtrace {
namespace {

TEST(DescribeInFlight, NamesFunctionsAndTasks) {
    EXPECT_EQ(describe_in_flight({}), "");
    const std::vector<InFlightFunction> functions{
        {1, "do_wait", 1, {"sh 14"}}, {2, "vfs_open", 0}, {3, "vfs_read", 3, {"cat 12", "sh 13"}}, {4, "an_f", 1}};
    EXPECT_EQ(describe_in_flight(functions), "vfs_read 3 (cat 12, sh 13), an_f 1, do_wait 1 (sh 14)");
}

TEST(DescribeInFlight, LeavesOutWhatIsTooMuch) {
    std::vector<InFlightFunction> functions(10);
    for (std::size_t i = 0; i < functions.size(); ++i)
        functions[i] = {0, std::string(1, static_cast<char>('a' + i)), 10 - i};
    functions[0].tasks = {"1", "2", "3", "4", "5", "6"};
    EXPECT_EQ(describe_in_flight(functions), "a 10 (1, 2, 3, 4 and 2 more), b 9, c 8, d 7, e 6, f 5, g 4, h 3 and 2 more");
}

} // namespace
} // namespace argtrace
