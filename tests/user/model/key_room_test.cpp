// SPDX-License-Identifier: GPL-2.0-only
#include "model/key_room.h"

#include <gmock/gmock.h>

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::uint32_t> room(std::vector<std::uint32_t> lengths) {
    return share_key_room(lengths);
}

TEST(KeyRoom, NumbersTakeOneWordAndTextTheRest) {
    EXPECT_THAT(room({}), IsEmpty());
    EXPECT_THAT(room({0, 0, 0}), ElementsAre(0, 0, 0));
    EXPECT_THAT(room({256}), ElementsAre(64));
    EXPECT_THAT(room({0, 256}), ElementsAre(0, 56));
    EXPECT_THAT(room({16}), ElementsAre(16)) << "a comm";
    EXPECT_THAT(room({5}), ElementsAre(8));
}

TEST(KeyRoom, TextsShareWhatShortOnesLeave) {
    EXPECT_THAT(room({256, 256}), ElementsAre(32, 32));
    EXPECT_THAT(room({16, 256}), ElementsAre(16, 48));
    EXPECT_THAT(room({256, 0, 16, 256}), ElementsAre(24, 0, 16, 16));
    EXPECT_THAT(room({16, 16, 16, 16}), ElementsAre(16, 16, 16, 16));
}

TEST(KeyRoom, EndsWithEightWords) {
    EXPECT_THAT(room(std::vector<std::uint32_t>(8, 0)), testing::SizeIs(8));
    EXPECT_THAT(room(std::vector<std::uint32_t>(8, 100)), testing::Each(8u));
    EXPECT_THAT(room(std::vector<std::uint32_t>(9, 0)), IsEmpty());
}

} // namespace
} // namespace argtrace
