// SPDX-License-Identifier: GPL-2.0-only
#include "spec/return_refusal.h"

#include <gtest/gtest.h>

#include <string>

namespace argtrace {
namespace {

std::string refusal(std::string_view function) {
    return std::string(return_refusal(function).value_or(""));
}

TEST(ReturnRefusal, IsThatOfTheModule) {
    EXPECT_EQ(refusal("do_exit"), "never returns");
    EXPECT_EQ(refusal("cpuidle_play_dead"), "is a part of the idle task, which does not return when its CPU goes offline");
    EXPECT_EQ(refusal("__switch_to"), "returns to another task than called it");
    for (const char *name : {"", "do_exi", "do_exit_", "vfs_read", "zzz"})
        EXPECT_EQ(refusal(name), "") << name;
}

TEST(ReturnRefusal, OfASystemCallIsThatOfItsFunction) {
    EXPECT_EQ(refusal("s:exit"), "never returns");
    EXPECT_EQ(refusal("s:exit_group"), "never returns");
    EXPECT_EQ(refusal("s:ia32:exit_group"), "never returns");
    EXPECT_EQ(refusal("s:read"), "");
    EXPECT_EQ(refusal("s:do_exit"), "");
}

} // namespace
} // namespace argtrace
