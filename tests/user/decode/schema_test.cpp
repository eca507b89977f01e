// SPDX-License-Identifier: GPL-2.0-only
#include "decode/schema.h"

#include <gtest/gtest.h>

#include "support/packet_builder.h"

namespace argtrace {
namespace {

using test::vfs_read;

TEST(SchemaTest, FindsAndReloads) {
    std::vector<Probe> known = {vfs_read(1), vfs_read(400000)};
    int asked = 0;
    Schema schema([&] {
        ++asked;
        return known;
    });
    EXPECT_EQ(schema.find(1), nullptr);
    EXPECT_TRUE(schema.reload());
    const Probe *first = schema.find(1);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->id, 1u);
    EXPECT_EQ(schema.find(400000)->id, 400000u);
    EXPECT_EQ(schema.find(2), nullptr);
    EXPECT_EQ(schema.find(ARGTRACE_ID_MAX), nullptr);
    EXPECT_FALSE(schema.reload());

    for (std::uint32_t id = 2; id < 5000; ++id)
        known.push_back(vfs_read(id));
    EXPECT_TRUE(schema.reload());
    EXPECT_EQ(schema.find(1), first);
    EXPECT_EQ(schema.find(4999)->id, 4999u);
    EXPECT_EQ(asked, 3);
    EXPECT_FALSE(Schema().reload());
}

} // namespace
} // namespace argtrace
