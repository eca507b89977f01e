// SPDX-License-Identifier: GPL-2.0-only
#include "model/user_frame.h"

#include <gtest/gtest.h>

namespace argtrace {
namespace {

TEST(UserFrame, HasTheWholeAddressOfWhatIsInNoFile) {
    // arm64 has 48 bits of them, a word room for 47 behind the object.
    for (const std::uint64_t address : {0x0ull, 0x7f0000001234ull, 0x800000000000ull, 0xfffff7ff3014ull}) {
        const std::uint64_t word = UserFrame(ARGTRACE_OBJECT_MEMORY, address, true).word();
        EXPECT_EQ(word & ARGTRACE_FRAME_OFFSET_MASK, address & ARGTRACE_FRAME_OFFSET_MASK);
        const UserFrame frame(word);
        EXPECT_EQ(frame.object, ARGTRACE_OBJECT_MEMORY);
        EXPECT_EQ(frame.offset, address);
        EXPECT_TRUE(frame.exact);
    }
    EXPECT_EQ(UserFrame(ARGTRACE_OBJECT_MEMORY, 0x7f0000001234, false).word() >> ARGTRACE_FRAME_OBJECT_SHIFT & ARGTRACE_FRAME_OBJECT_MASK,
              std::uint64_t{ARGTRACE_OBJECT_MEMORY});
    EXPECT_EQ(UserFrame(ARGTRACE_OBJECT_MEMORY, 0xfffff7ff3014, false).word() >> ARGTRACE_FRAME_OBJECT_SHIFT & ARGTRACE_FRAME_OBJECT_MASK,
              std::uint64_t{ARGTRACE_OBJECT_HIGH_MEMORY});
}

TEST(UserFrame, IsInAnObject) {
    const UserFrame frame(UserFrame(77, 0x99, false).word());
    EXPECT_EQ(frame.object, 77u);
    EXPECT_EQ(frame.offset, 0x99u);
    EXPECT_FALSE(frame.exact);
    EXPECT_FALSE(frame.is_end());
    EXPECT_TRUE(UserFrame(UserFrame(ARGTRACE_OBJECT_END, ARGTRACE_END_NO_RULE, false).word()).is_end());
}

} // namespace
} // namespace argtrace
