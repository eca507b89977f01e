// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <gtest/gtest.h>

#include "support/decoded_packets.h"

namespace argtrace {
namespace {

using test::argument;
using test::before_outputs;
using test::caller;
using test::Data;
using test::DecodeTest;
using test::minus;
using test::output;
using test::outputs;
using test::PacketBuilder;
using test::vfs_read;
using test::vfs_read_data;
using test::with_outputs;

TEST_F(DecodeTest, AnArrayThatIsFullIsNotCut) {
    std::uint32_t id = 2;
    for (const char *type : {"char *", "char[8]", "char[16]"}) {
        Probe probe = with_outputs(++id);
        probe.args[0].type_name = type;
        schema.add(std::move(probe));
        PacketBuilder packet;
        packet.record(id, 1000, outputs("eight ch", ARGTRACE_TEXT_CUT));
        batch.clear();
        ASSERT_EQ(decode(packet), DecodeStatus::ok);
        EXPECT_EQ(batch.view(batch.events[0]).values[0].cut, std::string_view(type) != "char[8]")
            << type;
    }
}

TEST_F(DecodeTest, OutputsOfAProgram) {
    schema.add(with_outputs(2));
    const auto text = [&](const EventView &view, std::size_t i) {
        const auto bytes = view.bytes_of(view.values[i]);
        return std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    };
    struct Case {
        std::string text;
        unsigned flags;
        std::string bytes;
    };
    const Case cases[] = {{"", 0, ""},
                          {"sda1", 0, "xy"},
                          {"eight ch", 0, "sixsix"},
                          {"eight ch", ARGTRACE_TEXT_CUT, "z"}};
    PacketBuilder packet;
    for (const Case &one : cases)
        packet.record(2, 1000, outputs(one.text, one.flags, one.bytes));
    packet.record(1, 1000, vfs_read_data(5));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    ASSERT_EQ(batch.events.size(), std::size(cases) + 1);
    EXPECT_EQ(value(std::size(cases), 2), (Value{5, 0, ARGTRACE_TYPE_U64, true}));

    EventBatch copy;
    for (auto event = batch.events.rbegin(); event != batch.events.rend(); ++event)
        copy.append(batch, *event);
    for (std::size_t i = 0; i < std::size(cases); ++i) {
        const Event &copied = copy.events[std::size(cases) - i];
        for (const EventView &view : {batch.view(batch.events[i]), copy.view(copied)}) {
            EXPECT_EQ(text(view, 0), cases[i].text);
            EXPECT_EQ(view.values[0].type, ARGTRACE_TYPE_STR);
            EXPECT_EQ(view.values[0].cut, cases[i].flags != 0);
            EXPECT_EQ(view.values[1], (Value{minus(-7), 0, ARGTRACE_TYPE_S32, true}));
            EXPECT_EQ(text(view, 2), cases[i].bytes);
            EXPECT_EQ(view.values[2].type, ARGTRACE_TYPE_BYTES);
            EXPECT_EQ(view.values[3], (Value{minus(-2), 0, ARGTRACE_TYPE_S16, true}));
            EXPECT_EQ(text(view, 4), "abc");
            EXPECT_EQ(view.values[5], Value{});
            EXPECT_EQ(view.values[6], (Value{0xffff888000000000, 0, ARGTRACE_TYPE_PTR, true}));
        }
    }
}

TEST_F(DecodeTest, OutputsThatCouldNotBeReadHaveNoValue) {
    schema.add(with_outputs(2));
    for (unsigned unreadable = 0; unreadable < 16; ++unreadable) {
        const auto has = [&](unsigned output) { return !(unreadable >> output & 1); };
        PacketBuilder packet;
        packet.record(2, 1000,
                      before_outputs(unreadable)
                          .counted(has(0) ? "sda1" : "")
                          .counted(has(1) ? "xy" : "")
                          .put(static_cast<std::int16_t>(has(2) ? -2 : 0))
                          .put(std::uint64_t{has(3) ? 5u : 0u}));
        ASSERT_EQ(decode(packet), DecodeStatus::ok);
        ASSERT_EQ(batch.events.size(), 1u);
        EXPECT_EQ(batch.events[0].has_unread, unreadable != 0);
        EXPECT_EQ(value(0, 0).captured, has(0));
        EXPECT_EQ(value(0, 1).low, minus(-7));
        EXPECT_EQ(value(0, 2).captured, has(1));
        EXPECT_EQ(value(0, 3), has(2) ? (Value{minus(-2), 0, ARGTRACE_TYPE_S16, true}) : Value{});
        EXPECT_EQ(value(0, 6), has(3) ? (Value{5, 0, ARGTRACE_TYPE_PTR, true}) : Value{});
        EXPECT_EQ(batch.bytes.size(), 3u + (has(0) ? 4 : 0) + (has(1) ? 2 : 0));
    }
}

TEST_F(DecodeTest, CallsThatShareArgumentsShareWhatWasUnread) {
    Probe probe;
    probe.id = 2;
    probe.args = {output("n", ARGTRACE_TYPE_U64)};
    schema.add(probe);
    PacketBuilder packet;
    for (const std::uint64_t unreadable : {1, 0, 1, 0})
        packet.record(2, 1000, Data().put(caller).put(unreadable).put(std::uint64_t{0}));
    SharedArguments shared(100);
    ASSERT_EQ(decode(packet, 0, &shared), DecodeStatus::ok);
    ASSERT_EQ(batch.events.size(), 4u);
    EXPECT_EQ(batch.values.size(), 2u);
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(batch.events[i].has_unread, i % 2 == 0) << i;
}

TEST_F(DecodeTest, ABufferThatIsCutSaysSo) {
    schema.add(with_outputs(2));
    PacketBuilder packet;
    for (const unsigned flags : {0u, ARGTRACE_TEXT_CUT})
        packet.record(2, 1000, before_outputs(0).counted("sda1").counted("sixsix", flags).put(std::int16_t{0}).put(std::uint64_t{0}));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    ASSERT_EQ(batch.events.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(value(i, 2).cut, i == 1);
        EXPECT_EQ(value(i, 2).high, 6u);
    }
}

TEST_F(DecodeTest, Paths) {
    Probe probe;
    probe.id = 2;
    probe.args = {output("file", ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX),
                  output("n", ARGTRACE_TYPE_U8),
                  output("to", ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX)};
    schema.add(probe);
    const auto path = [](std::string_view names, std::uint16_t flags = 0) {
        std::string data(reinterpret_cast<const char *>(&flags), sizeof(flags));
        return data.append(names);
    };
    const auto text = [&](const EventView &view, std::size_t i) {
        const auto bytes = view.bytes_of(view.values[i]);
        return std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    };
    const auto data = [&](std::uint64_t unreadable, std::string_view one, std::string_view other) {
        return Data().put(caller).put(unreadable).counted(one).put('n').counted(other);
    };
    PacketBuilder packet;
    packet.record(2, 1000, data(0, path("passwd/etc/"), path("", ARGTRACE_PATH_CHANGING)));
    packet.record(2, 1000, data(1, "", path("x/", ARGTRACE_PATH_DELETED)));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    ASSERT_EQ(batch.events.size(), 2u);
    EventBatch copy;
    copy.append(batch, batch.events[0]);
    for (const EventView &view : {batch.view(batch.events[0]), copy.view(copy.events[0])}) {
        EXPECT_EQ(view.values[0].type, ARGTRACE_TYPE_PATH);
        EXPECT_EQ(text(view, 0), "/etc/passwd");
        EXPECT_EQ(view.values[1].low, std::uint64_t{'n'});
        EXPECT_EQ(text(view, 2), "/ (changing)");
    }
    EXPECT_EQ(value(1, 0), Value{}) << "it could not be read";
    EXPECT_EQ(text(batch.view(batch.events[1]), 2), "/x (deleted)");
}

TEST_F(DecodeTest, AsManyOutputsAsThereCanBe) {
    Probe probe;
    probe.id = 2;
    Data data = Data().put(caller).put(std::uint64_t{1} << 63 | 1);
    for (unsigned i = 0; i < ARGTRACE_VALUES_MAX; ++i) {
        probe.args.push_back(output("x", ARGTRACE_TYPE_U8));
        data.put(static_cast<std::uint8_t>(i));
    }
    schema.add(probe);
    PacketBuilder packet;
    packet.record(2, 1000, data);
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_FALSE(value(0, 0).captured);
    EXPECT_EQ(value(0, 62), (Value{62, 0, ARGTRACE_TYPE_U8, true}));
    EXPECT_FALSE(value(0, 63).captured);
}

TEST_F(DecodeTest, AFilterAloneChangesNoRecord) {
    Probe probe = vfs_read(2);
    probe.program.resize(64);
    schema.add(probe);
    PacketBuilder packet;
    packet.record(2, 1000, vfs_read_data(4096));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(value(0, 2), (Value{4096, 0, ARGTRACE_TYPE_U64, true}));
}

TEST_F(DecodeTest, OutputsBesideAStackThatEndsEarly) {
    Probe probe;
    probe.id = 2;
    probe.args = {output("name", ARGTRACE_TYPE_STR, 8), argument("a", ARGTRACE_TYPE_U64)};
    probe.args[1].loc = ARGTRACE_LOC_STACK;
    probe.args[1].offset = 8;
    schema.add(probe);
    PacketBuilder packet;
    packet.record(ARGTRACE_ID_UNREADABLE + 2, 1000,
                  Data().put(caller).put(std::uint64_t{1}).put(std::uint64_t{0}).counted("sda1"));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(value(0, 0).high, 4u);
    EXPECT_FALSE(value(0, 1).captured);
}

} // namespace
} // namespace argtrace
