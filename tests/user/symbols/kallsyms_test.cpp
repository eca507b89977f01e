// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/kallsyms.h"

#include <gmock/gmock.h>

#include "support/temporary_file.h"
#include "support/thrown.h"
#include "util/error.h"

namespace argtrace {
namespace {

using testing::HasSubstr;

constexpr const char *symbols_text = "0000000000000000 A fixed_percpu_data\n"
                                     "ffffffff81000000 T _stext\n"
                                     "ffffffff81000000 T first\n"
                                     "ffffffff81000100 t twice\n"
                                     "ffffffff81000200 W weak\n"
                                     "ffffffff81000300 t foo.constprop.0\n"
                                     "ffffffff81000310 t foo.cold\n"
                                     "ffffffff81000320 t foobar\n"
                                     "ffffffff82000000 D some_data\n"
                                     "ffffffffc0000020 t in_module\t[ext4]\n"
                                     "ffffffffc0000010 t twice\t[ext4]\n";

TEST(Kallsyms, KeepsTextSymbolsByAddress) {
    const Kallsyms symbols = Kallsyms::parse(symbols_text);
    ASSERT_EQ(symbols.all().size(), 9u);
    EXPECT_EQ(symbols.all().front(), (Symbol{0xffffffff81000000, "_stext", ""}));
    EXPECT_EQ(symbols.all().back(), (Symbol{0xffffffffc0000020, "in_module", "ext4"}));
    EXPECT_TRUE(symbols.named("some_data").empty());
    EXPECT_TRUE(symbols.named("fixed_percpu_data").empty());
    EXPECT_FALSE(symbols.variable("vmemmap_base"));
}

TEST(Kallsyms, LeavesOutMappingSymbols) {
    const Kallsyms symbols = Kallsyms::parse("ffffd0a0cf7c2000 t $x\t[ext4]\n"
                                             "ffffd0a0cf7c2000 t ext4_read\t[ext4]\n"
                                             "ffffd0a0cf7c2040 t $d.7\t[ext4]\n");
    EXPECT_EQ(symbols.all(), (std::vector<Symbol>{{0xffffd0a0cf7c2000, "ext4_read", "ext4"}}));
}

TEST(Kallsyms, KnowsWherePagesAreCountedFrom) {
    const Kallsyms symbols = Kallsyms::parse("ffffffff81000000 T first\n"
                                             "ffffffff82000000 D not_vmemmap_base\n"
                                             "ffffffff82000008 D vmemmap_base\n"
                                             "ffffffff82001000 D __per_cpu_offset\n"
                                             "ffffffffc0000000 d vmemmap_base\t[nvidia]\n");
    EXPECT_EQ(symbols.variable("vmemmap_base"), 0xffffffff82000008);
    EXPECT_EQ(symbols.variable("__per_cpu_offset"), 0xffffffff82001000);
    EXPECT_FALSE(symbols.variable("not_vmemmap_base"));
    EXPECT_EQ(symbols.all().size(), 1u);
}

TEST(Kallsyms, FindsAllSymbolsOfAName) {
    const Kallsyms symbols = Kallsyms::parse(symbols_text);
    EXPECT_EQ(symbols.named("twice"), (std::vector<Symbol>{{0xffffffff81000100, "twice", ""},
                                                           {0xffffffffc0000010, "twice", "ext4"}}));
    EXPECT_TRUE(symbols.named("foo").empty());
    EXPECT_TRUE(symbols.named("").empty());
    EXPECT_TRUE(symbols.named("zzz").empty());
}

TEST(Kallsyms, FindsWhatTheCompilerMadeOfAFunction) {
    const Kallsyms symbols = Kallsyms::parse(symbols_text);
    const std::vector<Symbol> clones = symbols.clones("foo");
    ASSERT_EQ(clones.size(), 2u);
    EXPECT_EQ(clones[0].name, "foo.cold");
    EXPECT_EQ(clones[1].name, "foo.constprop.0");
    EXPECT_TRUE(symbols.clones("twice").empty());
}

TEST(Kallsyms, SkipsLinesOfAnotherForm) {
    const Kallsyms symbols = Kallsyms::parse("\nrubbish\nxyz T bad\n10 T\n10 TT no\n10 T good");
    EXPECT_EQ(symbols.all(), (std::vector<Symbol>{{0x10, "good", ""}}));
}

TEST(Kallsyms, NamesStayValidWhenItIsMoved) {
    Kallsyms symbols = Kallsyms::parse("1 t a\n"); // shorter than any string's inner buffer
    const Kallsyms moved = std::move(symbols);
    symbols = Kallsyms::parse("2 t b\n");
    EXPECT_EQ(moved.named("a").size(), 1u);
    EXPECT_EQ(moved.all().front().name, "a");
}

TEST(Kallsyms, LoadsAFile) {
    const test::TemporaryFile file(symbols_text);
    EXPECT_EQ(Kallsyms::load(file.path()).all().size(), 9u);
}

TEST(Kallsyms, SaysThatAddressesAreHidden) {
    const test::TemporaryFile file("0000000000000000 T _stext\n0000000000000000 t other\t[ext4]\n");
    EXPECT_THAT(thrown([&] { Kallsyms::load(file.path()); }),
                testing::AllOf(HasSubstr("hides addresses"), HasSubstr("run argtrace as root")));
}

TEST(Kallsyms, SaysThatTheFileCannotBeRead) {
    EXPECT_THAT(thrown([] { Kallsyms::load("/nonexistent/kallsyms"); }),
                testing::AllOf(HasSubstr("/nonexistent/kallsyms"), HasSubstr("No such file")));
    const test::TemporaryFile file("");
    EXPECT_THAT(thrown([&] { Kallsyms::load(file.path()); }), HasSubstr("lists no functions"));
}

} // namespace
} // namespace argtrace
