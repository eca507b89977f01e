// SPDX-License-Identifier: GPL-2.0-only

// What -d shows in place of an argument.

#include "render/meaning.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include "report/symbol_table.h"
#include "support/all_display_types.h"
#include "support/btf_builder.h"
#include "support/packet_builder.h"

namespace argtrace {
namespace {

/// A call whose arguments are added one by one, each with its value.
class MeaningTest : public testing::Test {
protected:
    void add(const char *name, std::uint8_t type, const Value &value, bool computed) {
        probe.args.push_back(test::argument(name, type));
        if (computed)
            probe.args.back().loc = ARGTRACE_LOC_PROGRAM;
        values.push_back(value);
    }

    void argument(const char *name, std::uint8_t type, std::uint64_t number) {
        add(name, type, Value{number, 0, type, true}, false);
    }

    void number(const char *name, std::uint64_t number) {
        add(name, ARGTRACE_TYPE_U32, Value{number, 0, ARGTRACE_TYPE_U32, true}, true);
    }

    void text(const char *name, std::string_view text, bool cut = false) {
        add(name, ARGTRACE_TYPE_STR, Value{bytes.size(), text.size(), ARGTRACE_TYPE_STR, true, cut},
            true);
        for (const char character : text)
            bytes.push_back(static_cast<std::byte>(character));
    }

    void unreadable(const char *name, std::uint8_t type) {
        add(name, type, Value{0, 0, type, false}, true);
    }

    std::string shown(std::size_t argument = 0) {
        Event event;
        event.probe = &probe;
        const EventView view{&event, values, bytes};
        ValueWriter writer(names, ValueWriter::Style::text);
        Line line;
        append_with_meaning(line, writer, view, writer.formats(probe), argument);
        return std::string(line.view());
    }

    SymbolTable symbols;
    CallerNames names{symbols};
    Probe probe;
    Values values;
    std::vector<std::byte> bytes;
};

TEST_F(MeaningTest, ATextStandsInThePlaceOfAPointer) {
    argument("file", ARGTRACE_TYPE_PTR, 0xffff888000001000);
    text("file.path", "/etc/passwd");
    argument("count", ARGTRACE_TYPE_U64, 4096);
    EXPECT_EQ(shown(), "\"/etc/passwd\"");
    EXPECT_EQ(count_meanings(probe, 0), 1u);
    EXPECT_EQ(count_meanings(probe, 2), 0u);
    EXPECT_EQ(shown(2), "4096");
    values[1].cut = true;
    EXPECT_EQ(shown(), "\"/etc/passwd\"...");
}

TEST_F(MeaningTest, SeveralStandInBraces) {
    argument("p", ARGTRACE_TYPE_PTR, 0xffff888000001000);
    text("p.comm", "dd");
    number("p.pid", 145);
    EXPECT_EQ(shown(), "{comm=\"dd\", pid=145}");
}

TEST_F(MeaningTest, OneNumberBehindAPointerIsInBraces) {
    argument("pos", ARGTRACE_TYPE_PTR, 0xffff888000001000);
    number("pos.value", 4096);
    argument("ino", ARGTRACE_TYPE_PTR, 0xffff888000001000);
    number("ino.number", 7);
    EXPECT_EQ(shown(), "{4096}") << "the name value says nothing";
    EXPECT_EQ(shown(2), "{number=7}");
}

TEST_F(MeaningTest, ANumberIsReplacedByWhatItIsShownAs) {
    argument("port", ARGTRACE_TYPE_U16, 0xbb01);
    number("port.value", 443);
    EXPECT_EQ(shown(), "443");
}

TEST_F(MeaningTest, WhereNothingCouldBeReadTheArgumentDoes) {
    argument("file", ARGTRACE_TYPE_PTR, 0);
    unreadable("file.path", ARGTRACE_TYPE_PATH);
    argument("p", ARGTRACE_TYPE_PTR, 0xdead4ead00000000);
    unreadable("p.comm", ARGTRACE_TYPE_STR);
    unreadable("p.pid", ARGTRACE_TYPE_U32);
    EXPECT_EQ(shown(), "0x0");
    EXPECT_EQ(shown(2), "0xdead4ead00000000");
}

TEST_F(MeaningTest, AFileWithoutAPathIsThePointer) {
    argument("file", ARGTRACE_TYPE_PTR, 0xffff888000001000);
    add("file.path", ARGTRACE_TYPE_PATH, Value{0, 0, ARGTRACE_TYPE_PATH, true}, true);
    EXPECT_EQ(shown(), "0xffff888000001000");
}

TEST_F(MeaningTest, WhatCouldNotBeReadBesideOthersIsAQuestionMark) {
    argument("skb", ARGTRACE_TYPE_PTR, 0xffff888000001000);
    number("skb.len", 44);
    unreadable("skb.dev", ARGTRACE_TYPE_STR);
    EXPECT_EQ(shown(), "{len=44, dev=?}");
}

TEST_F(MeaningTest, AMemberThatPointsToATextIsTheText) {
    argument("p", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    number("p.id", 3);
    number("p.host", 0x2000);
    text("p.host.value", "example.org");
    number("p.user", 0);
    unreadable("p.user.value", ARGTRACE_TYPE_STR);
    number("p.more", 1);
    EXPECT_EQ(shown(), "{id=3, host=\"example.org\", user=0, more=1}");
    number("p.last", 0);
    unreadable("p.last.value", ARGTRACE_TYPE_STR);
    EXPECT_EQ(shown(), "{id=3, host=\"example.org\", user=0, more=1, last=0}");
}

TEST_F(MeaningTest, WhatIsAskedForBesideItsSubjectIsNone) {
    text("item.name", "novel");
    number("item.name._M_string_length", 5);
    argument("v", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    number("v.size()", 2);
    EXPECT_EQ(count_meanings(probe, 0), 0u) << "a text says itself what it means";
    EXPECT_EQ(count_meanings(probe, 2), 0u) << "a method is an expression";
    EXPECT_EQ(shown(), "\"novel\"");
}

TEST_F(MeaningTest, TheyAreThoseOfThisArgumentAndComputed) {
    argument("file", ARGTRACE_TYPE_PTR, 0xffff888000001000);
    number("file2.pos", 1);
    argument("file2", ARGTRACE_TYPE_PTR, 0xffff888000002000);
    argument("file2.pos", ARGTRACE_TYPE_U32, 3);
    argument("last", ARGTRACE_TYPE_PTR, 0xffff888000003000);
    EXPECT_EQ(count_meanings(probe, 0), 0u) << "of another name that begins alike";
    EXPECT_EQ(count_meanings(probe, 2), 0u) << "an argument";
    EXPECT_EQ(count_meanings(probe, 4), 0u);
    EXPECT_EQ(shown(), "0xffff888000001000");
}

TEST_F(MeaningTest, WhatOnlyHasNothingOfIsLeftOut) {
    BtfBuilder b;
    const int number_type = b.integer("unsigned int", 4);
    const int in_addr = b.structure("in_addr", 4, {{"s_addr", number_type, 0}});
    argument("sk", ARGTRACE_TYPE_PTR, 0xffff888000001000);
    number("sk.family", 10);
    add("sk.src", ARGTRACE_TYPE_BYTES, Value{0, 0, ARGTRACE_TYPE_BYTES, true}, true);
    add("sk.dst", ARGTRACE_TYPE_BYTES, Value{0, 4, ARGTRACE_TYPE_BYTES, true}, true);
    for (const int byte : {10, 0, 0, 1})
        bytes.push_back(static_cast<std::byte>(byte));
    probe.types = test::all_display_types(
        b.get(), static_cast<std::uint32_t>(b.proto(
                     0, {{"a", 0}, {"b", number_type}, {"c", in_addr}, {"d", in_addr}})));
    EXPECT_EQ(shown(), "{family=10, dst=10.0.0.1}");
    values[1].captured = false;
    values[3].high = 0;
    EXPECT_EQ(shown(), "0xffff888000001000") << "nothing is left";
}

} // namespace
} // namespace argtrace
