// SPDX-License-Identifier: GPL-2.0-only
#include <gmock/gmock.h>

#include <span>
#include <vector>

#include <fmt/format.h>

#include "file/format.h"
#include "model/user_frame.h"
#include "render/caller.h"
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

constexpr std::uint64_t in_main = UserFrame(16, 0x1234, false).word(), interrupted = UserFrame(16, 0x1234, true).word(),
                        in_library = UserFrame(17, 0x99, false).word();

TEST(SymbolTable, NamesUserCodePlaceByPlace) {
    SymbolTable table;
    EXPECT_TRUE(table.add_objects("10 abcd /usr/bin/a program\n11 - /usr/lib/libfoo.so (deleted)\n"));
    EXPECT_TRUE(table.add_places(fmt::format("{:016x} 34 operator new(int)\n", in_main)));
    EXPECT_EQ(table.object(16), (CodeObject{"/usr/bin/a program", "abcd"}));
    EXPECT_EQ(table.object(17), (CodeObject{"/usr/lib/libfoo.so (deleted)", ""}));
    EXPECT_FALSE(table.object(18));
    CallerNames names(table);
    EXPECT_EQ(names.name(user_place(in_main)), "operator new(int)+0x34");
    EXPECT_EQ(names.name(user_place(interrupted)), "a program+0x1234") << "it may be in another function";
    EXPECT_EQ(names.name(user_place(in_library)), "libfoo.so (deleted)+0x99");
    EXPECT_EQ(names.name(user_place(UserFrame(18, 1, false).word())), "[object 18]+0x1");
    EXPECT_TRUE(add(table, {7, 1, in_main, 8, 1, 0xffffffff81000000}));
    EXPECT_EQ(table.stack(7)->space, CodeSpace::user);
    EXPECT_EQ(table.stack(8)->space, CodeSpace::kernel);
}

TEST(SymbolTable, RefusesUserCodeThatIsMalformed) {
    for (const char *lines : {"10 abcd\n", "10\n", "xy - /a\n", "10 - /a", "4000 - /a\n"})
        EXPECT_FALSE(SymbolTable().add_objects(lines)) << lines;
    for (const char *lines : {"4008000000001234 34\n", "4008000000001234 \n", "xy 0 f\n", "4008000000001234 1235 f\n", "4008000000001234 0 f"})
        EXPECT_FALSE(SymbolTable().add_places(lines)) << lines;
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
