// SPDX-License-Identifier: GPL-2.0-only
#include <gmock/gmock.h>

#include <span>
#include <vector>

#include "file/format.h"
#include "report/symbol_table.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::uint64_t>;

bool add(SymbolTable &table, const Words &words) {
    return table.add_stacks(std::as_bytes(std::span(words)));
}

TEST(SymbolTable, KeepsStacks) {
    SymbolTable table;
    EXPECT_TRUE(add(table, {7, 2, 100, 101, 8, 1 | stack_chunk_cut, 200}));
    const auto seven = table.stack(7), eight = table.stack(8);
    ASSERT_TRUE(seven && eight);
    EXPECT_THAT(seven->addresses, ElementsAre(100, 101));
    EXPECT_FALSE(seven->cut);
    EXPECT_THAT(eight->addresses, ElementsAre(200));
    EXPECT_TRUE(eight->cut);
    EXPECT_FALSE(table.stack(9));
}

constexpr CodeSpace another{1};

TEST(SymbolTable, TellsSpacesApart) {
    SymbolTable table;
    EXPECT_TRUE(table.add("1000 100 t of_kernel\n"));
    EXPECT_TRUE(table.add("1000 100 t of_another\n800 10 t before\n", another));
    EXPECT_EQ(table.at(0x1010).value().name, "of_kernel");
    EXPECT_EQ(table.find(kernel_place(0x1010)).value().name, "of_kernel");
    EXPECT_EQ(table.find({another, 0x1010}).value().name, "of_another");
    EXPECT_FALSE(table.at(0x808)) << "which only the other has";
    EXPECT_FALSE(table.find({another, 0x100})) << "what the space before ends with";
}

TEST(SymbolTable, RefusesStacksThatAreCutOff) {
    for (const Words &words : {Words{7}, Words{7, 0}, Words{7, 2, 100}, Words{7, ~std::uint64_t{0}, 1},
                               Words{7, 1, 100, 8, 9}}) {
        SymbolTable table;
        EXPECT_FALSE(add(table, words));
        EXPECT_FALSE(table.stack(8));
    }
    SymbolTable table;
    const Words words{7, 1, 100};
    EXPECT_FALSE(table.add_stacks(std::as_bytes(std::span(words)).first(20)));
}

} // namespace
} // namespace argtrace
