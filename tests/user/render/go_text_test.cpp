// SPDX-License-Identifier: GPL-2.0-only
#include "render/go_text.h"

#include <limits>

#include <gtest/gtest.h>

namespace argtrace {
namespace {

TEST(GoText, HasDurationsAsGoPrintsThem) {
    EXPECT_EQ(go_duration(0), "0s");
    EXPECT_EQ(go_duration(1), "1ns");
    EXPECT_EQ(go_duration(-999), "-999ns");
    EXPECT_EQ(go_duration(1100), "1.1\u00b5s");
    EXPECT_EQ(go_duration(2'200'000), "2.2ms");
    EXPECT_EQ(go_duration(1'500'000'000), "1.5s");
    EXPECT_EQ(go_duration(60'000'000'000), "1m0s");
    EXPECT_EQ(go_duration(3'600'000'000'000), "1h0m0s");
    EXPECT_EQ(go_duration(299'999'999'999), "4m59.999999999s");
    EXPECT_EQ(go_duration(5'445'000'000'001), "1h30m45.000000001s");
    EXPECT_EQ(go_duration(std::numeric_limits<std::int64_t>::max()), "2562047h47m16.854775807s");
    EXPECT_EQ(go_duration(std::numeric_limits<std::int64_t>::min()), "-2562047h47m16.854775808s");
}

} // namespace
} // namespace argtrace
