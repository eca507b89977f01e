// SPDX-License-Identifier: GPL-2.0-only
// Symbols that come one by one: from the kernel, and from a trace file.
#include <gtest/gtest.h>

#include "report/symbol_table.h"
#include "symbols/printed.h"

namespace argtrace {
namespace {

TEST(PrintedSymbol, OfTheKernel) {
    const auto symbol = parse_printed_symbol("ksys_read+0x6b/0x100", 0xffffffff8100006b);
    EXPECT_EQ(symbol, (Symbol{0xffffffff81000000, "ksys_read", "", 0x100}));
}

TEST(PrintedSymbol, OfAModule) {
    const auto symbol =
        parse_printed_symbol("init_once.isra.0+0x0/0x1f [ext4]", 0xffffffffc0001000);
    EXPECT_EQ(symbol, (Symbol{0xffffffffc0001000, "init_once.isra.0", "ext4", 0x1f}));
}

TEST(PrintedSymbol, AnAddressAloneIsNone) {
    for (const char *text : {"0xffffffffc0001000", "", "ksys_read", "ksys_read+0x6b", "+0x6b/0x100",
                             "ksys_read+6b/0x100", "ksys_read+0x6b/", "ksys_read+0x/0x100",
                             "ksys_read+0x11111111111111111/0x100"})
        EXPECT_EQ(parse_printed_symbol(text, 0xffffffffc0001000), std::nullopt) << text;
    EXPECT_EQ(parse_printed_symbol("ksys_read+0x6b/0x100", 0x6a), std::nullopt);
}

TEST(SymbolTable, ASymbolEndsWhereItsSizeSays) {
    SymbolTable table;
    EXPECT_TRUE(table.add("ffffffff81000000 0000000000000040 t one\n"
                          "ffffffffc0001000 0000000000000010 t two\t[ext4]\n"));
    EXPECT_EQ(table.at(0xffffffff8100003f), (Symbol{0xffffffff81000000, "one", "", 0x40}));
    EXPECT_EQ(table.at(0xffffffff81000040), std::nullopt);
    EXPECT_EQ(table.at(0xffffffffc0001000), (Symbol{0xffffffffc0001000, "two", "ext4", 0x10}));
    EXPECT_EQ(table.at(0xffffffffc0001010), std::nullopt);
    EXPECT_EQ(table.at(0xffffffff80ffffff), std::nullopt);
}

TEST(SymbolTable, WithoutASizeAtTheNextOrAfterAMebibyte) {
    SymbolTable table;
    EXPECT_TRUE(table.add("ffffffff81000000 t one\nffffffff81000100 t two\n"));
    EXPECT_EQ(table.at(0xffffffff810000ff)->name, "one");
    EXPECT_EQ(table.at(0xffffffff811000ff)->name, "two");
    EXPECT_EQ(table.at(0xffffffff81100100), std::nullopt);
}

TEST(SymbolTable, FindsNothingBeforeTheFirstSymbol) {
    SymbolTable table;
    EXPECT_EQ(table.at(1), std::nullopt);
    EXPECT_TRUE(table.add("ffffffff81000000 t one\n"));
    EXPECT_EQ(table.at(0xffffffff80ffffff), std::nullopt);
    EXPECT_EQ(table.at(0), std::nullopt);
}

TEST(SymbolTable, TakesTheFirstNameOfAnAddress) {
    SymbolTable table;
    EXPECT_TRUE(table.add("ffffffff81000000 T _stext\nffffffff81000000 T first\n"));
    EXPECT_TRUE(table.add("ffffffff81000000 T second\n"));
    EXPECT_EQ(table.at(0xffffffff81000000)->name, "_stext");
    EXPECT_EQ(table.at(0xffffffff810000ff)->name, "_stext");
    EXPECT_EQ(table.at(~0ull), std::nullopt) << "no function is that long";
}

TEST(SymbolTable, TellsOfLinesThatAreNone) {
    for (const char *lines :
         {"ffffffff81000000 0000000000000040 t one", "ffffffff81000000 0000000000000040 t\n",
          "ffffffff81000000 40 one\n", "x 0000000000000040 t one\n", "\n"}) {
        SymbolTable table;
        EXPECT_FALSE(table.add(lines)) << lines;
        EXPECT_TRUE(table.add("ffffffff82000000 0000000000000040 t good\n"));
        EXPECT_EQ(table.at(0xffffffff82000001)->name, "good");
    }
    EXPECT_TRUE(SymbolTable().add(""));
}

} // namespace
} // namespace argtrace
