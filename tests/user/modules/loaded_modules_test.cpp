// SPDX-License-Identifier: GPL-2.0-only
#include "modules/loaded_modules.h"

#include <gtest/gtest.h>
#include <sstream>

namespace argtrace {
namespace {

LoadedModules modules_of(const std::string &lines) {
    std::istringstream in(lines);
    return LoadedModules(in);
}

TEST(LoadedModules, WhoseAnAddressIs) {
    const LoadedModules modules =
        modules_of("argtrace_test 61440 0 - Live 0xffffffffc0501000 (OE)\n"
                   "ext4 1130496 2 - Live 0xffffffffc0a00000\n"
                   "mbcache 16384 1 ext4, Loading 0xffffffffc0400000\n");
    EXPECT_EQ(modules.at(0xffffffffc0501000), "argtrace_test");
    EXPECT_EQ(modules.at(0xffffffffc05010a0), "argtrace_test");
    EXPECT_EQ(modules.at(0xffffffffc0403fff), "mbcache");
    EXPECT_EQ(modules.at(0xffffffffc0404000), "") << "behind it";
    EXPECT_EQ(modules.at(0xffffffffc0a00010), "ext4");
    EXPECT_EQ(modules.at(0xffffffff81000000), "") << "the kernel's own";
}

TEST(LoadedModules, UnknownWhereAddressesAreHidden) {
    const LoadedModules modules = modules_of("ext4 1130496 2 - Live 0x0000000000000000\n"
                                             "mbcache 16384 1 ext4, Live 0x0000000000000000\n");
    EXPECT_EQ(modules.at(0xffffffffc0a00010), "");
    EXPECT_EQ(modules.at(0), "");
}

TEST(LoadedModules, LinesThatAreNoneAreLeftOut) {
    const LoadedModules modules = modules_of("ext4 1130496\n\nmbcache 16384 1 - Live nowhere\n");
    EXPECT_EQ(modules.at(~std::uint64_t{0}), "");
}

} // namespace
} // namespace argtrace
