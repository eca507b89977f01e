// SPDX-License-Identifier: GPL-2.0-only
#include "util/glob.h"

#include <string>

#include <gtest/gtest.h>

namespace argtrace {
namespace {

TEST(Glob, IsOneWithAWildcard) {
    EXPECT_TRUE(is_glob("vfs_*"));
    EXPECT_TRUE(is_glob("vfs_rea?"));
    EXPECT_FALSE(is_glob("vfs_read"));
    EXPECT_FALSE(is_glob(""));
    EXPECT_FALSE(is_glob("[ab]"));
}

TEST(Glob, MatchesTheWholeText) {
    EXPECT_TRUE(glob_matches("vfs_read", "vfs_read"));
    EXPECT_FALSE(glob_matches("vfs_read", "vfs_readv"));
    EXPECT_FALSE(glob_matches("vfs_readv", "vfs_read"));
    EXPECT_TRUE(glob_matches("", ""));
    EXPECT_FALSE(glob_matches("", "a"));
}

TEST(Glob, StarTakesAnyNumber) {
    EXPECT_TRUE(glob_matches("*", ""));
    EXPECT_TRUE(glob_matches("*", "anything"));
    EXPECT_TRUE(glob_matches("vfs_*", "vfs_"));
    EXPECT_TRUE(glob_matches("*_read", "vfs_read"));
    EXPECT_TRUE(glob_matches("v*r*d", "vfs_rd_read"));
    EXPECT_TRUE(glob_matches("a**b", "ab"));
    EXPECT_FALSE(glob_matches("*_read", "vfs_reads"));
    EXPECT_FALSE(glob_matches("*a*b*", "ba"));
}

TEST(Glob, QuestionMarkTakesOne) {
    EXPECT_TRUE(glob_matches("vfs_rea?", "vfs_read"));
    EXPECT_FALSE(glob_matches("vfs_rea?", "vfs_rea"));
    EXPECT_TRUE(glob_matches("*?", "a"));
    EXPECT_FALSE(glob_matches("*?", ""));
}

TEST(Glob, ManyStarsTakeNoTime) {
    const std::string text(10000, 'a');
    EXPECT_FALSE(glob_matches("*a*a*a*a*a*a*a*a*a*b", text));
}

} // namespace
} // namespace argtrace
