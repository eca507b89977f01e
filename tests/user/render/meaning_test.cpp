// SPDX-License-Identifier: GPL-2.0-only

// What -d shows in place of an argument.

#include "render/meaning.h"

#include <gtest/gtest.h>

#include "report/symbol_table.h"
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

TEST_F(MeaningTest, WhatCouldNotBeReadBesideOthersIsAQuestionMark) {
    argument("skb", ARGTRACE_TYPE_PTR, 0xffff888000001000);
    number("skb.len", 44);
    unreadable("skb.dev", ARGTRACE_TYPE_STR);
    EXPECT_EQ(shown(), "{len=44, dev=?}");
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

} // namespace
} // namespace argtrace
