// SPDX-License-Identifier: GPL-2.0-only
#include "util/near_match.h"

#include <vector>

#include <gtest/gtest.h>

namespace argtrace {
namespace {

using Names = std::vector<std::string_view>;

TEST(EditDistance, CountsEdits) {
    EXPECT_EQ(edit_distance("vfs_read", "vfs_read", 3), 0u);
    EXPECT_EQ(edit_distance("vfs_rad", "vfs_read", 3), 1u);
    EXPECT_EQ(edit_distance("vfs_reead", "vfs_read", 3), 1u);
    EXPECT_EQ(edit_distance("vfs_rexd", "vfs_read", 3), 1u);
    EXPECT_EQ(edit_distance("vfs_raed", "vfs_read", 3), 1u) << "swapped neighbours";
    EXPECT_EQ(edit_distance("kitten", "sitting", 3), 3u);
    EXPECT_EQ(edit_distance("", "abc", 3), 3u);
}

TEST(EditDistance, StopsAboveTheLimit) {
    EXPECT_GT(edit_distance("kitten", "sitting", 2), 2u);
    EXPECT_GT(edit_distance("a", "abcdef", 2), 2u);
    EXPECT_GT(edit_distance("abcdef", "uvwxyz", 2), 2u);
}

TEST(NearMatch, FindsTheNearest) {
    const Names names = {"vfs_write", "vfs_readv", "vfs_read", "ksys_read"};
    EXPECT_EQ(near_match("vfs_raed", names), "vfs_read");
    EXPECT_EQ(near_match("vfs_wirte", names), "vfs_write");
}

TEST(NearMatch, PrefersTheLongestCommonBeginning) {
    EXPECT_EQ(near_match("read_b", Names{"xead_b", "read_c", "read_d"}), "read_c");
}

TEST(NearMatch, FindsNothingWhereNothingIsNear) {
    EXPECT_EQ(near_match("completely_else", Names{"vfs_read", "vfs_write"}), "");
    EXPECT_EQ(near_match("vfs_read", Names{}), "");
    EXPECT_EQ(near_match("", Names{"vfs_read"}), "");
}

} // namespace
} // namespace argtrace
