// SPDX-License-Identifier: GPL-2.0-only
#include "util/caret.h"

#include <gtest/gtest.h>

namespace argtrace {
namespace {

TEST(Caret, StandsUnderTheCharacter) {
    EXPECT_EQ(with_caret("abc", 1, "wrong"), "wrong\n  abc\n   ^");
    EXPECT_EQ(with_caret("abc", 3, "missing"), "missing\n  abc\n     ^");
    EXPECT_EQ(with_caret("\t\xc3\xa4x", 3, "s"), "s\n  \t\xc3\xa4x\n  \t ^");
}

} // namespace
} // namespace argtrace
