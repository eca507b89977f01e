// SPDX-License-Identifier: GPL-2.0-only
#include "spec/left_out.h"

#include <gtest/gtest.h>

namespace argtrace {
namespace {

TEST(LeftOut, NamesTheFirstAndSaysWhatShowsAll) {
    LeftOut left;
    for (const char *name : {"a.isra.0", "b.isra.0", "c.part.0", "d.part.0"})
        left.add({{0, name, {}}, Doubt::clone, 1, {}});
    for (const char *name : {"e", "e", "f"})
        left.add({{0, name, {}}, Doubt::shared, 2, {}});
    EXPECT_EQ(left.total(), 7u);
    const std::string what =
        "4 that the compiler made of others (a.isra.0, b.isra.0, c.part.0 ...; --force takes "
        "them), 3 that share their names with others (e, f; --force takes them)";
    EXPECT_EQ(left.describe(""), what);
    EXPECT_EQ(left.describe("vfs_*"),
              what + "; `argtrace list --force 'vfs_*'` shows them among the others");
}

TEST(LeftOut, NoCommandShowsWhatNothingTakes) {
    LeftOut left;
    for (const char *name : {"a.cold", "b.cold", "c.cold", "d.cold"})
        left.add({{0, name, {}}, Doubt::cold, 1, {}});
    EXPECT_EQ(left.describe("*"), "4 that are parts of others (a.cold, b.cold, c.cold ...)");
}

} // namespace
} // namespace argtrace
