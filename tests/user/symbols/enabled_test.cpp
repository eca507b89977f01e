// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/enabled.h"

#include <gtest/gtest.h>

namespace argtrace {
namespace {

// As Linux 6.1 to 7.3 print it.
constexpr const char *lines =
    "vfs_read (1)             \ttramp: 0xffffffffc0a52000 (function_trace_call+0x0/0x170) "
    "->arch_ftrace_ops_list_func+0x0/0x280\n"
    "vfs_write (12) R I D   M \tops: 0xffffffffc0a53000 (klp_ftrace_handler+0x0/0x1f0)\n"
    "\tdirect-->bpf_trampoline_6442536467+0x0/0x1000\n"
    "at_four [argtrace_test] (2)           ->arch_ftrace_ops_list_func+0x0/0x280\n"
    "init_once (1)             \n"
    "init_once (3)             \n"
    "init_once [ext4] (1)             \n";

TEST(EnabledFunctions, CountsUsers) {
    const EnabledFunctions enabled = EnabledFunctions::parse(lines);
    EXPECT_EQ(enabled.users("vfs_read"), 1u);
    EXPECT_EQ(enabled.users("vfs_write"), 12u);
    EXPECT_EQ(enabled.users("at_four", "argtrace_test"), 2u);
    EXPECT_EQ(enabled.users("vfs_open"), 0u);
    EXPECT_EQ(enabled.users("direct-->bpf_trampoline_6442536467+0x0/0x1000"), 0u);
}

TEST(EnabledFunctions, TellsModulesApart) {
    const EnabledFunctions enabled = EnabledFunctions::parse(lines);
    EXPECT_EQ(enabled.users("at_four"), 0u);
    EXPECT_EQ(enabled.users("vfs_read", "ext4"), 0u);
    EXPECT_EQ(enabled.users("init_once", "ext4"), 1u);
    EXPECT_EQ(enabled.users("init_once"), 3u) << "of two that share the name";
}

TEST(EnabledFunctions, TellsWhoSendsCallsElsewhere) {
    const EnabledFunctions enabled = EnabledFunctions::parse(lines);
    EXPECT_TRUE(enabled.is_modified("vfs_write"));
    EXPECT_TRUE(enabled.is_direct("vfs_write"));
    for (const char *name : {"vfs_read", "init_once", "vfs_open"}) {
        EXPECT_FALSE(enabled.is_modified(name)) << name;
        EXPECT_FALSE(enabled.is_direct(name)) << name;
    }
    EXPECT_FALSE(enabled.is_direct("vfs_write", "ext4"));
}

TEST(EnabledFunctions, LinesThatAreNoneCountNothing) {
    const EnabledFunctions enabled =
        EnabledFunctions::parse("\na\nb (\nc (x)\nd (2\ne [ext4]\nf 2\n (3)\ng (4)");
    for (const char *name : {"", "a", "b", "c", "d", "e", "f", "(3)"})
        EXPECT_EQ(enabled.users(name), 0u) << name;
    EXPECT_EQ(enabled.users("e", "ext4"), 0u);
    EXPECT_EQ(enabled.users("g"), 4u);
}

TEST(EnabledFunctions, NoneWhereTheFileCannotBeRead) {
    const std::string directories[] = {"/nonexistent"};
    EXPECT_EQ(EnabledFunctions::load(directories).users("vfs_read"), 0u);
}

} // namespace
} // namespace argtrace
