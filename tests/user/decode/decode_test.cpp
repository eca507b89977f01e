// SPDX-License-Identifier: GPL-2.0-only
#include "decode/decode.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "support/packet_builder.h"

namespace argtrace {
namespace {

using test::argument;
using test::Data;
using test::PacketBuilder;
using test::vfs_read;
using test::vfs_read_data;

constexpr std::uint64_t caller = 0xffffffff81000010;

constexpr std::uint64_t minus(std::int64_t value) {
    return static_cast<std::uint64_t>(value);
}

class DecodeTest : public testing::Test {
protected:
    DecodeTest() { schema.add(vfs_read(1)); }

    /// Decodes all of it from the start; events and values are in `batch`.
    DecodeStatus decode(const PacketBuilder &packet, std::size_t first = 0) {
        batch.clear();
        DecodeStatus status = decoder.open(packet.bytes());
        if (status != DecodeStatus::ok)
            return status;
        return decoder.decode(packet.end(), first, schema, batch);
    }

    Value value(std::size_t event, std::size_t index) const {
        return batch.values_of(batch.events.at(event))[index];
    }

    std::vector<std::uint64_t> times() const {
        std::vector<std::uint64_t> times;
        for (const Event &event : batch.events)
            times.push_back(event.ts);
        return times;
    }

    Schema schema;
    Decoder decoder;
    EventBatch batch;
};

/// A probe with one argument of each type that is recorded, and one that is not.
Probe all_types(std::uint32_t id) {
    Probe probe;
    probe.id = id;
    probe.function = "all_types";
    probe.args = {argument("u8", ARGTRACE_TYPE_U8),    argument("s8", ARGTRACE_TYPE_S8),
                  argument("u16", ARGTRACE_TYPE_U16),  argument("s16", ARGTRACE_TYPE_S16),
                  test::not_captured("hidden"),        argument("u32", ARGTRACE_TYPE_U32),
                  argument("s32", ARGTRACE_TYPE_S32),  argument("u64", ARGTRACE_TYPE_U64),
                  argument("s64", ARGTRACE_TYPE_S64),  argument("flag", ARGTRACE_TYPE_BOOL),
                  argument("c", ARGTRACE_TYPE_CHAR),   argument("uc", ARGTRACE_TYPE_UCHAR),
                  argument("p", ARGTRACE_TYPE_PTR),    argument("u128", ARGTRACE_TYPE_U128),
                  argument("s128", ARGTRACE_TYPE_S128)};
    return probe;
}

Values all_values() {
    return {{200, 0, ARGTRACE_TYPE_U8, true},
            {minus(-100), 0, ARGTRACE_TYPE_S8, true},
            {60000, 0, ARGTRACE_TYPE_U16, true},
            {minus(-30000), 0, ARGTRACE_TYPE_S16, true},
            {0, 0, ARGTRACE_TYPE_END, false},
            {4000000000, 0, ARGTRACE_TYPE_U32, true},
            {minus(-2000000000), 0, ARGTRACE_TYPE_S32, true},
            {0xfedcba9876543210, 0, ARGTRACE_TYPE_U64, true},
            {minus(-5), 0, ARGTRACE_TYPE_S64, true},
            {1, 0, ARGTRACE_TYPE_BOOL, true},
            {minus(-1), 0, ARGTRACE_TYPE_CHAR, true},
            {255, 0, ARGTRACE_TYPE_UCHAR, true},
            {0xffff888000000000, 0, ARGTRACE_TYPE_PTR, true},
            {1, 2, ARGTRACE_TYPE_U128, true},
            {3, 0x8000000000000000, ARGTRACE_TYPE_S128, true}};
}

Data all_compact() {
    return Data()
        .put(caller)
        .put(std::uint8_t{200})
        .put(std::int8_t{-100})
        .put(std::uint16_t{60000})
        .put(std::int16_t{-30000})
        .put(std::uint32_t{4000000000})
        .put(std::int32_t{-2000000000})
        .put(std::uint64_t{0xfedcba9876543210})
        .put(std::int64_t{-5})
        .put(std::uint8_t{1})
        .put(std::int8_t{-1})
        .put(std::uint8_t{255})
        .put(std::uint64_t{0xffff888000000000})
        .put(std::uint64_t{1})
        .put(std::uint64_t{2})
        .put(std::uint64_t{3})
        .put(std::uint64_t{0x8000000000000000});
}

Data all_named() {
    struct Wide {
        std::uint64_t low, high;
    };
    return Data()
        .put(caller)
        .named("u8", ARGTRACE_TYPE_U8, std::uint8_t{200})
        .named("s8", ARGTRACE_TYPE_S8, std::int8_t{-100})
        .named("u16", ARGTRACE_TYPE_U16, std::uint16_t{60000})
        .named("s16", ARGTRACE_TYPE_S16, std::int16_t{-30000})
        .named("u32", ARGTRACE_TYPE_U32, std::uint32_t{4000000000})
        .named("s32", ARGTRACE_TYPE_S32, std::int32_t{-2000000000})
        .named("u64", ARGTRACE_TYPE_U64, std::uint64_t{0xfedcba9876543210})
        .named("s64", ARGTRACE_TYPE_S64, std::int64_t{-5})
        .named("flag", ARGTRACE_TYPE_BOOL, std::uint8_t{1})
        .named("c", ARGTRACE_TYPE_CHAR, std::int8_t{-1})
        .named("uc", ARGTRACE_TYPE_UCHAR, std::uint8_t{255})
        .named("p", ARGTRACE_TYPE_PTR, std::uint64_t{0xffff888000000000})
        .named("u128", ARGTRACE_TYPE_U128, Wide{1, 2})
        .named("s128", ARGTRACE_TYPE_S128, Wide{3, 0x8000000000000000})
        .end_of_names();
}

TEST_F(DecodeTest, OneCall) {
    PacketBuilder packet(4096, 5000);
    packet.header().cpu = 3;
    packet.header().seq = 2;
    packet.task(149, 148, "dd", 5000);
    std::size_t start = packet.record(1, 5000, vfs_read_data(4096), 149,
                                      ARGTRACE_CTX_IRQS_OFF | ARGTRACE_CTX_HARDIRQ, 2);

    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    ASSERT_EQ(batch.events.size(), 1u);
    const Event &event = batch.events[0];
    EXPECT_EQ(event.ts, 5000u);
    EXPECT_EQ(event.caller, caller);
    EXPECT_EQ(event.position, 2 * 4096 + start);
    EXPECT_EQ(event.probe, schema.find(1));
    EXPECT_EQ(event.cpu, 3u);
    EXPECT_EQ(event.tid, 149u);
    EXPECT_EQ(event.tgid, 148u);
    EXPECT_EQ(event.comm_view(), "dd");
    EXPECT_EQ(event.context, ARGTRACE_CTX_IRQS_OFF | ARGTRACE_CTX_HARDIRQ);
    EXPECT_EQ(event.preempt, 2u);
    EXPECT_EQ(value(0, 0), (Value{0xff1e1afafffb5e40, 0, ARGTRACE_TYPE_PTR, true}));
    EXPECT_EQ(value(0, 2), (Value{4096, 0, ARGTRACE_TYPE_U64, true}));
    EXPECT_EQ(value(0, 3), (Value{0, 0, ARGTRACE_TYPE_PTR, true}));
    EXPECT_EQ(decoder.offset(), packet.end());
}

TEST_F(DecodeTest, ATickIsInTheContextThatItInterrupted) {
    Probe tick = vfs_read();
    tick.id = 7;
    tick.kind = ARGTRACE_KIND_TIMER;
    schema.add(tick);
    PacketBuilder packet(4096, 5000);
    packet.task(149, 148, "dd", 5000);
    packet.record(7, 5000, vfs_read_data(4096), 149, ARGTRACE_CTX_IRQS_OFF | ARGTRACE_CTX_HARDIRQ | ARGTRACE_CTX_SOFTIRQ, 2);
    packet.record(7, 5001, vfs_read_data(4096), 149, ARGTRACE_CTX_NMI | ARGTRACE_CTX_HARDIRQ | ARGTRACE_CTX_IRQS_OFF);
    packet.record(7, 5002, vfs_read_data(4096), 149, ARGTRACE_CTX_BH_OFF | ARGTRACE_CTX_NEED_RESCHED);
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    ASSERT_EQ(batch.events.size(), 3u);
    EXPECT_EQ(batch.events[0].context, ARGTRACE_CTX_SOFTIRQ);
    EXPECT_EQ(batch.events[0].preempt, 2u);
    EXPECT_EQ(batch.events[1].context, 0u);
    EXPECT_EQ(batch.events[2].context, ARGTRACE_CTX_BH_OFF | ARGTRACE_CTX_NEED_RESCHED);
}

TEST_F(DecodeTest, BothEncodingsGiveTheSameEvent) {
    schema.add(all_types(2));
    PacketBuilder compact, named;
    compact.record(2, 1000, all_compact());
    named.header().format = ARGTRACE_FORMAT_NAMED;
    named.record(2, 1000, all_named());

    ASSERT_EQ(decode(compact), DecodeStatus::ok);
    ASSERT_EQ(batch.values, all_values());
    Event first = batch.events.at(0);
    ASSERT_EQ(decode(named), DecodeStatus::ok);
    EXPECT_EQ(batch.values, all_values());
    const Event &second = batch.events.at(0);
    EXPECT_EQ(first.ts, second.ts);
    EXPECT_EQ(first.caller, second.caller);
    EXPECT_EQ(first.tid, second.tid);
    EXPECT_EQ(first.probe, second.probe);
    EXPECT_EQ(first.position, second.position);
}

Argument bytes_argument(std::string name, std::uint32_t size) {
    Argument made = argument(std::move(name), ARGTRACE_TYPE_BYTES, "struct s");
    made.size = size;
    return made;
}

/// f(struct s first, int n, struct s second)
Probe with_structs(std::uint32_t id) {
    Probe probe;
    probe.id = id;
    probe.function = "with_structs";
    probe.args = {bytes_argument("first", 3), argument("n", ARGTRACE_TYPE_S32),
                  bytes_argument("second", 12)};
    return probe;
}

Data structs_compact(std::uint8_t tag) {
    return Data()
        .put(caller)
        .put(std::uint16_t{3})
        .put(tag)
        .put(std::uint16_t{0x0b0a})
        .put(std::int32_t{-7})
        .put(std::uint16_t{12})
        .put(std::uint64_t{0x1122334455667788})
        .put(std::uint32_t{0x99aabbcc});
}

Data structs_named(std::uint8_t tag) {
    return Data()
        .put(caller)
        .named("first", ARGTRACE_TYPE_BYTES, std::uint16_t{3})
        .put(tag)
        .put(std::uint16_t{0x0b0a})
        .named("n", ARGTRACE_TYPE_S32, std::int32_t{-7})
        .named("second", ARGTRACE_TYPE_BYTES, std::uint16_t{12})
        .put(std::uint64_t{0x1122334455667788})
        .put(std::uint32_t{0x99aabbcc})
        .end_of_names();
}

TEST_F(DecodeTest, StructsByValue) {
    schema.add(with_structs(2));
    for (bool named : {false, true}) {
        PacketBuilder packet;
        packet.header().format = named ? ARGTRACE_FORMAT_NAMED : 0;
        packet.record(2, 1000, named ? structs_named(1) : structs_compact(1));
        packet.record(2, 1001, named ? structs_named(2) : structs_compact(2));
        ASSERT_EQ(decode(packet), DecodeStatus::ok);
        ASSERT_EQ(batch.events.size(), 2u);
        EXPECT_EQ(batch.bytes.size(), 30u);

        EventView view = batch.view(batch.events[1]);
        EXPECT_EQ(view.values[0], (Value{15, 3, ARGTRACE_TYPE_BYTES, true}));
        EXPECT_EQ(view.values[1], (Value{minus(-7), 0, ARGTRACE_TYPE_S32, true}));
        auto first = view.bytes_of(view.values[0]);
        auto second = view.bytes_of(view.values[2]);
        EXPECT_TRUE(std::ranges::equal(
            first, Data().put(std::uint8_t{2}).put(std::uint16_t{0x0b0a}).bytes()));
        EXPECT_TRUE(std::ranges::equal(
            second,
            Data().put(std::uint64_t{0x1122334455667788}).put(std::uint32_t{0x99aabbcc}).bytes()));

        EventBatch copy; // of the second alone, twice
        copy.append(batch, batch.events[1]);
        copy.append(batch, batch.events[1]);
        EXPECT_EQ(copy.bytes.size(), 30u);
        for (const Event &event : copy.events) {
            EventView copied = copy.view(event);
            EXPECT_TRUE(std::ranges::equal(copied.bytes_of(copied.values[0]), first));
            EXPECT_TRUE(std::ranges::equal(copied.bytes_of(copied.values[2]), second));
        }
        copy.clear();
        EXPECT_TRUE(copy.bytes.empty());
    }
}

/// f(char *name as text, int n, struct s *p as bytes, u16 *narrow, void *ptr, s128 wide on two registers): the
/// text, the bytes, and two numbers are computed, in between the others.
Probe with_outputs(std::uint32_t id) {
    Probe probe;
    probe.id = id;
    probe.function = "with_outputs";
    probe.args = {test::output("name", ARGTRACE_TYPE_STR, 8),
                  argument("n", ARGTRACE_TYPE_S32),
                  test::output("data", ARGTRACE_TYPE_BYTES, 6),
                  test::output("narrow", ARGTRACE_TYPE_S16),
                  bytes_argument("pair", 3),
                  test::not_captured("gone"),
                  test::output("ptr", ARGTRACE_TYPE_PTR)};
    return probe;
}

/// Its record, up to the outputs.
Data before_outputs(std::uint64_t unreadable) {
    return Data()
        .put(caller)
        .put(std::int32_t{-7})
        .put(std::uint16_t{3})
        .put('a')
        .put(std::uint16_t{0x6362})
        .put(unreadable);
}

Data outputs(std::string_view text = "sda1", unsigned flags = 0, std::string_view bytes = "xy") {
    return before_outputs(0)
        .counted(text, flags)
        .counted(bytes)
        .put(std::int16_t{-2})
        .put(std::uint64_t{0xffff888000000000});
}

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
    const Case cases[] = {{"", 0, ""}, {"sda1", 0, "xy"}, {"eight ch", 0, "sixsix"},
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
        EXPECT_EQ(value(0, 0).captured, has(0));
        EXPECT_EQ(value(0, 1).low, minus(-7));
        EXPECT_EQ(value(0, 2).captured, has(1));
        EXPECT_EQ(value(0, 3), has(2) ? (Value{minus(-2), 0, ARGTRACE_TYPE_S16, true}) : Value{});
        EXPECT_EQ(value(0, 6), has(3) ? (Value{5, 0, ARGTRACE_TYPE_PTR, true}) : Value{});
        EXPECT_EQ(batch.bytes.size(), 3u + (has(0) ? 4 : 0) + (has(1) ? 2 : 0));
    }
}

TEST_F(DecodeTest, Paths) {
    Probe probe;
    probe.id = 2;
    probe.args = {test::output("file", ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX),
                  test::output("n", ARGTRACE_TYPE_U8),
                  test::output("to", ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX)};
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
        probe.args.push_back(test::output("x", ARGTRACE_TYPE_U8));
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
    probe.args = {test::output("name", ARGTRACE_TYPE_STR, 8), argument("a", ARGTRACE_TYPE_U64)};
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

TEST_F(DecodeTest, WithoutCaller) {
    PacketBuilder packet;
    packet.header().format = ARGTRACE_FORMAT_NO_CALLER;
    packet.record(1, 1000,
                  Data()
                      .put(std::uint64_t{1})
                      .put(std::uint64_t{2})
                      .put(std::uint64_t{3})
                      .put(std::uint64_t{4}));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(batch.events.at(0).caller, 0u);
    EXPECT_EQ(value(0, 0).low, 1u);
    EXPECT_EQ(value(0, 3).low, 4u);
}

TEST_F(DecodeTest, ProbeWithoutArguments) {
    Probe probe;
    probe.id = 3;
    probe.function = "nothing";
    schema.add(probe);
    PacketBuilder packet;
    packet.record(3, 1000, Data().put(caller));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(batch.events.size(), 1u);
    EXPECT_TRUE(batch.values_of(batch.events[0]).empty());

    PacketBuilder named;
    named.header().format = ARGTRACE_FORMAT_NAMED;
    named.record(3, 1000, Data().put(caller).end_of_names());
    EXPECT_EQ(decode(named), DecodeStatus::ok);
    EXPECT_EQ(batch.events.size(), 1u);
}

TEST_F(DecodeTest, ThePacketSaysTheUpperHalfOfTheClock) {
    std::uint64_t start = 0x5fffff000;
    PacketBuilder packet(4096, start);
    std::vector<std::uint64_t> clocks = {start, start + 0xfff, start - 1, 0x500000000};
    for (std::uint64_t clock : clocks)
        packet.record(1, clock, vfs_read_data(1));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(times(), clocks);
}

TEST_F(DecodeTest, ClockRecordsChangeTheUpperHalf) {
    PacketBuilder packet(4096, 0x5fffffff0);
    packet.record(1, 0x5fffffff0, vfs_read_data(1));
    packet.clock(0x600000005);
    packet.record(1, 0x600000005, vfs_read_data(2));
    packet.record(1, 0x6ffffffff, vfs_read_data(3));
    packet.clock(0x5fffffff0); // the clock was set back
    packet.record(1, 0x5fffffff1, vfs_read_data(4));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(times(),
              (std::vector<std::uint64_t>{0x5fffffff0, 0x600000005, 0x6ffffffff, 0x5fffffff1}));
}

constexpr std::uint32_t mult_of_2ghz = 1u << (ARGTRACE_MULT_SHIFT - 1);

PacketBuilder tsc_packet(std::uint64_t clock, std::uint64_t ns, std::uint32_t size = 4096) {
    PacketBuilder packet(size, clock);
    packet.header().clock_id = ARGTRACE_CLOCK_TSC;
    packet.header().mult = mult_of_2ghz;
    packet.header().ns = ns;
    return packet;
}

TEST_F(DecodeTest, TicksBecomeNanoseconds) {
    PacketBuilder packet = tsc_packet(0x700001000, 5000);
    packet.record(1, 0x700001000, vfs_read_data(1));
    packet.record(1, 0x700001003, vfs_read_data(2));
    packet.record(1, 0x7ffffffff, vfs_read_data(3));
    packet.clock(0x900000000, 77000000000); // the clocks have run apart
    packet.record(1, 0x900000010, vfs_read_data(4));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(times(),
              (std::vector<std::uint64_t>{5000, 5001, 5000 + 0xffffefff / 2, 77000000008}));
    EXPECT_EQ(batch.events[3].clock, 0x900000010u);
}

TEST_F(DecodeTest, TicksBeforeTheAnchorCountBack) {
    PacketBuilder packet = tsc_packet(0x700001000, 5000);
    packet.record(1, 0x700000f00, vfs_read_data(1));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(times(), (std::vector<std::uint64_t>{5000 - 0x80}));
}

TEST_F(DecodeTest, TimesOfACpuDoNotDecreaseWherePacketsDisagree) {
    // The second packet's clocks were compared 300 ns late; the third belongs to another CPU.
    PacketBuilder first = tsc_packet(1000, 50000), second = tsc_packet(1200, 49800);
    PacketBuilder third = tsc_packet(1400, 49900);
    first.record(1, 1100, vfs_read_data(1));
    second.record(1, 1200, vfs_read_data(2));
    second.record(1, 2200, vfs_read_data(3));
    third.header().cpu = 1;
    third.record(1, 1400, vfs_read_data(4));
    Decoder decoder;
    for (const PacketBuilder *packet : {&first, &second, &third}) {
        ASSERT_EQ(decoder.open(packet->bytes()), DecodeStatus::ok);
        ASSERT_EQ(decoder.decode(packet->end(), 0, schema, batch), DecodeStatus::ok);
    }
    EXPECT_EQ(times(), (std::vector<std::uint64_t>{50050, 50050, 50300, 49900}));
}

TEST_F(DecodeTest, AClockThatWasSetBackIsShownSo) {
    PacketBuilder packet = tsc_packet(1000, 9000000000);
    packet.record(1, 1000, vfs_read_data(1));
    packet.clock(2000, 8000000000);
    packet.record(1, 2000, vfs_read_data(2));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(times(), (std::vector<std::uint64_t>{9000000000, 8000000000}));
}

TEST_F(DecodeTest, ClockRecordBridgesALongPause) {
    PacketBuilder packet(4096, 1000);
    packet.record(1, 1000, vfs_read_data(1));
    packet.clock(0x7700001000);
    packet.record(1, 0x7700001000, vfs_read_data(2));
    packet.record(1, 0x7700001005, vfs_read_data(3));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(times(), (std::vector<std::uint64_t>{1000, 0x7700001000, 0x7700001005}));
}

TEST_F(DecodeTest, TasksChange) {
    PacketBuilder packet;
    packet.record(1, 1000, vfs_read_data(1), 7); // nothing is known yet
    packet.task(7, 70, "first", 1001);
    packet.record(1, 1001, vfs_read_data(2), 7);
    packet.record(1, 1002, vfs_read_data(3), 8); // another one, not introduced
    packet.task(8, 80, "0123456789abcdef", 1003);
    packet.record(1, 1003, vfs_read_data(4), 8);
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    ASSERT_EQ(batch.events.size(), 4u);
    EXPECT_EQ(batch.events[0].comm_view(), "");
    EXPECT_EQ(batch.events[0].tgid, 0u);
    EXPECT_EQ(batch.events[1].comm_view(), "first");
    EXPECT_EQ(batch.events[1].tgid, 70u);
    EXPECT_EQ(batch.events[2].comm_view(), "");
    EXPECT_EQ(batch.events[3].comm_view(), "0123456789abcdef"); // no NUL within its 16 bytes

    PacketBuilder next; // does not know the task of the one before
    next.record(1, 2000, vfs_read_data(1), 8);
    ASSERT_EQ(decode(next), DecodeStatus::ok);
    EXPECT_EQ(batch.events.at(0).comm_view(), "");
}

TEST_F(DecodeTest, UnknownSpecialRecordsAreSkipped) {
    PacketBuilder packet;
    packet.record(0xf0000000, 1000, Data().put(std::uint64_t{1}).put(std::uint64_t{2}));
    packet.record(1, 1001, vfs_read_data(5));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(batch.events.size(), 1u);
    EXPECT_EQ(value(0, 2).low, 5u);
}

TEST_F(DecodeTest, StartsInTheMiddleWithWhatWasSaidBefore) {
    PacketBuilder packet(4096, 1000);
    packet.task(5, 50, "early", 1000);
    packet.record(1, 1000, vfs_read_data(1), 5);
    packet.clock(0x900000000);
    std::size_t first = packet.record(1, 0x900000007, vfs_read_data(2), 5);
    ASSERT_EQ(decode(packet, first), DecodeStatus::ok);
    ASSERT_EQ(batch.events.size(), 1u);
    EXPECT_EQ(batch.events[0].ts, 0x900000007u);
    EXPECT_EQ(batch.events[0].comm_view(), "early");
    EXPECT_EQ(value(0, 2).low, 2u);
}

TEST_F(DecodeTest, GoesOnWhereItStopped) {
    PacketBuilder packet(4096, 1000);
    packet.task(5, 50, "x", 1000);
    packet.record(1, 1001, vfs_read_data(1), 5);
    std::size_t middle = packet.end();
    packet.record(1, 1002, vfs_read_data(2), 5);

    ASSERT_EQ(decoder.open(packet.bytes()), DecodeStatus::ok);
    EXPECT_EQ(decoder.decode(middle, 0, schema, batch), DecodeStatus::ok);
    EXPECT_EQ(batch.events.size(), 1u);
    EXPECT_EQ(decoder.decode(middle, 0, schema, batch), DecodeStatus::ok);
    EXPECT_EQ(batch.events.size(), 1u);
    EXPECT_EQ(decoder.decode(packet.end(), 0, schema, batch), DecodeStatus::ok);
    ASSERT_EQ(batch.events.size(), 2u);
    EXPECT_EQ(batch.events[1].ts, 1002u);
    EXPECT_EQ(batch.events[1].comm_view(), "x");
}

TEST_F(DecodeTest, UnknownProbeIsTriedAgain) {
    PacketBuilder packet;
    packet.record(1, 1000, vfs_read_data(1));
    std::size_t unknown = packet.record(9, 1001, vfs_read_data(2));
    packet.record(1, 1002, vfs_read_data(3));
    EXPECT_EQ(decode(packet), DecodeStatus::unknown_probe);
    EXPECT_EQ(decoder.offset(), unknown);
    EXPECT_EQ(batch.events.size(), 1u);

    schema.add(vfs_read(9));
    EXPECT_EQ(decoder.decode(packet.end(), 0, schema, batch), DecodeStatus::ok);
    EXPECT_EQ(times(), (std::vector<std::uint64_t>{1000, 1001, 1002}));
}

TEST_F(DecodeTest, MalformedPackets) {
    auto open = [](auto change) {
        PacketBuilder packet;
        change(packet.header());
        return Decoder().open(packet.bytes());
    };
    using P = argtrace_packet;
    EXPECT_EQ(open([](P &) {}), DecodeStatus::ok);
    EXPECT_EQ(open([](P &p) { p.magic = 0; }), DecodeStatus::bad_magic);
    EXPECT_EQ(open([](P &p) { p.version = 2; }), DecodeStatus::bad_version);
    EXPECT_EQ(open([](P &p) { p.size = 8192; }), DecodeStatus::bad_packet_size);
    EXPECT_EQ(open([](P &p) { p.header = 56; }), DecodeStatus::bad_header_size);
    EXPECT_EQ(open([](P &p) { p.header = 68; }), DecodeStatus::bad_header_size);
    EXPECT_EQ(open([](P &p) { p.header = 8192; }), DecodeStatus::bad_header_size);
    EXPECT_EQ(open([](P &p) { p.format = 4; }), DecodeStatus::unknown_format);
    EXPECT_EQ(open([](P &p) { p.clock_id = 2; }), DecodeStatus::unknown_clock);
    std::vector<std::byte> bytes(sizeof(P) - 1);
    EXPECT_EQ(Decoder().open(bytes), DecodeStatus::packet_too_short);
    EXPECT_EQ(Decoder().open({}), DecodeStatus::packet_too_short);
}

TEST_F(DecodeTest, TheBeginningOfAPacketIsNotLongerThanThePacket) {
    PacketBuilder packet(4096);
    packet.header().size = 4096 - 8;
    EXPECT_EQ(Decoder().open_cut(packet.bytes()), DecodeStatus::bad_packet_size);
    packet.header().size = 4096 + 8;
    EXPECT_EQ(Decoder().open_cut(packet.bytes()), DecodeStatus::ok);
}

TEST_F(DecodeTest, LongerHeaderOfALaterVersion) {
    PacketBuilder packet;
    packet.record(0xf0000000, 1000, Data()); // 16 bytes that a longer header would take
    packet.record(1, 1000, vfs_read_data(1));
    packet.header().header = 80;
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(batch.events.size(), 1u);
}

TEST_F(DecodeTest, RecordSizesThatCannotBe) {
    PacketBuilder packet;
    std::size_t at = packet.record(1, 1000, vfs_read_data(1));
    for (unsigned size : {0u, 8u, 15u, 20u, 64u, 0xfff8u}) {
        packet.record_at(at).size = static_cast<std::uint16_t>(size);
        EXPECT_EQ(decode(packet), DecodeStatus::bad_record_size) << size;
        EXPECT_FALSE(decoder.skip(packet.end())) << size;
        EXPECT_TRUE(batch.events.empty());
    }
    ASSERT_EQ(decoder.open(packet.bytes()), DecodeStatus::ok);
    EXPECT_EQ(decoder.decode(at + 8, 0, schema, batch), DecodeStatus::record_too_short);
    EXPECT_FALSE(decoder.skip(at + 8));
}

/// A record with this data, between two good ones: what is said about it, and that the good
/// ones are not harmed.
class MalformedRecord : public DecodeTest {
protected:
    DecodeStatus status(const Data &data, std::uint32_t id = 1, std::uint32_t format = 0) {
        PacketBuilder packet;
        packet.header().format = format;
        Data good = format & ARGTRACE_FORMAT_NAMED ? named() : vfs_read_data(1);
        packet.record(1, 1000, good);
        packet.record(id, 1001, data);
        packet.record(1, 1002, good);

        DecodeStatus status = decode(packet);
        EXPECT_EQ(batch.values.size(), 4u);
        EXPECT_TRUE(decoder.skip(packet.end()));
        EXPECT_EQ(decoder.decode(packet.end(), 0, schema, batch), DecodeStatus::ok);
        EXPECT_EQ(times(), (std::vector<std::uint64_t>{1000, 1002}));
        EXPECT_EQ(batch.values.size(), 8u);
        return status;
    }

    DecodeStatus named_status(const Data &data) { return status(data, 1, ARGTRACE_FORMAT_NAMED); }

    static Data file(Data data = Data()) {
        return data.put(caller).named("file", ARGTRACE_TYPE_PTR, std::uint64_t{1});
    }

    static Data named() {
        return file()
            .named("buf", ARGTRACE_TYPE_PTR, std::uint64_t{2})
            .named("count", ARGTRACE_TYPE_U64, std::uint64_t{3})
            .named("pos", ARGTRACE_TYPE_PTR, std::uint64_t{4})
            .end_of_names();
    }
};

TEST_F(MalformedRecord, Compact) {
    EXPECT_EQ(status(vfs_read_data(1), 77), DecodeStatus::unknown_probe);
    EXPECT_EQ(status(Data()), DecodeStatus::caller_cut_off);
    EXPECT_EQ(status(Data().put(caller).put(std::uint64_t{1})), DecodeStatus::data_cut_off);
    EXPECT_EQ(status(vfs_read_data(1).put(std::uint64_t{0})), DecodeStatus::excess_data);

    for (std::uint8_t type : {ARGTRACE_TYPE_STR, ARGTRACE_TYPE_END}) {
        Probe probe;
        probe.id = 50u + type;
        probe.args = {argument("s", type)};
        schema.add(probe);
        EXPECT_EQ(status(Data().put(caller).put(std::uint64_t{0}), probe.id),
                  DecodeStatus::unsupported_type);
    }
}

TEST_F(MalformedRecord, Bytes) {
    schema.add(with_structs(2));
    auto start = [] { return Data().put(caller).put(std::uint16_t{3}).put('a').put('b').put('c'); };
    auto second = [&](std::uint16_t length) { return start().put(std::int32_t{1}).put(length); };
    for (std::uint16_t length : {0, 2, 4, 0xffff})
        EXPECT_EQ(status(Data().put(caller).put(length).put(std::uint64_t{0}), 2),
                  DecodeStatus::bad_length);
    EXPECT_EQ(status(second(12).put(std::uint32_t{0}), 2), DecodeStatus::data_cut_off);
    EXPECT_EQ(status(second(13).put(std::uint64_t{0}).put(std::uint64_t{0}), 2),
              DecodeStatus::bad_length);
    EXPECT_EQ(status(Data().put(caller), 2), DecodeStatus::data_cut_off);
    EXPECT_TRUE(batch.bytes.empty()); // nothing of a bad record stays

    EXPECT_EQ(status(Data().put(caller).named("first", ARGTRACE_TYPE_BYTES, std::uint16_t{4}), 2,
                     ARGTRACE_FORMAT_NAMED),
              DecodeStatus::bad_length);
    EXPECT_EQ(status(Data().put(caller).named("first", ARGTRACE_TYPE_U64, std::uint64_t{4}), 2,
                     ARGTRACE_FORMAT_NAMED),
              DecodeStatus::type_mismatch);
}

TEST_F(MalformedRecord, Outputs) {
    schema.add(with_outputs(2));
    const auto good = outputs().bytes();
    // The padding may be as long as what is missing: cut off by so many bytes that it is not.
    for (std::size_t size = 0; size + 7 < good.size(); size += 8) {
        Data part;
        for (std::size_t i = 0; i < size; ++i)
            part.put(good[i]);
        EXPECT_EQ(status(part, 2), size < 8 ? DecodeStatus::caller_cut_off : DecodeStatus::data_cut_off)
            << size;
    }
    EXPECT_EQ(status(outputs().put(std::uint64_t{0}).put(std::uint64_t{0}), 2),
              DecodeStatus::excess_data);
    EXPECT_EQ(status(outputs("nine char"), 2), DecodeStatus::bad_length);
    EXPECT_EQ(status(outputs("nine char", ARGTRACE_TEXT_CUT), 2), DecodeStatus::bad_length);
    EXPECT_EQ(status(outputs("", 0, "sevense"), 2), DecodeStatus::bad_length);
    // The flag is one of text alone.
    EXPECT_EQ(status(before_outputs(0).counted("").counted("xy", ARGTRACE_TEXT_CUT), 2),
              DecodeStatus::bad_length);
    EXPECT_EQ(status(before_outputs(0).counted("sda1").put(std::uint16_t{6}), 2),
              DecodeStatus::data_cut_off);
    for (const unsigned bit : {4u, 5u, 63u})
        EXPECT_EQ(status(before_outputs(std::uint64_t{1} << bit)
                             .counted("")
                             .counted("")
                             .put(std::int16_t{0})
                             .put(std::uint64_t{0}),
                         2),
                  DecodeStatus::bad_unreadable_bits);
    EXPECT_TRUE(batch.bytes.empty()); // nothing of a bad record stays

    Probe many;
    many.id = 3;
    many.args.assign(ARGTRACE_VALUES_MAX + 1, test::output("x", ARGTRACE_TYPE_U8));
    schema.add(many);
    Data data = Data().put(caller);
    for (int i = 0; i < 10; ++i)
        data.put(std::uint64_t{0});
    EXPECT_EQ(status(data, 3), DecodeStatus::too_many_outputs);

    for (const std::uint8_t type : {std::uint8_t{19}, std::uint8_t{ARGTRACE_TYPE_END}}) {
        Probe probe;
        probe.id = 60u + type;
        probe.args = {test::output("x", type, 8)};
        schema.add(probe);
        EXPECT_EQ(status(Data().put(caller).put(std::uint64_t{0}).put(std::uint64_t{0}), probe.id),
                  DecodeStatus::unsupported_type);
    }

    Probe named_one;
    named_one.id = 4;
    named_one.args = {test::output("x", ARGTRACE_TYPE_U8)};
    schema.add(named_one);
    EXPECT_EQ(status(Data().put(caller).named("x", ARGTRACE_TYPE_U8, '1').end_of_names(), 4,
                     ARGTRACE_FORMAT_NAMED),
              DecodeStatus::named_outputs);
}

TEST_F(MalformedRecord, Paths) {
    Probe probe;
    probe.id = 2;
    probe.args = {test::output("file", ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX)};
    schema.add(probe);
    const auto status_of = [&](std::string_view path) {
        return status(Data().put(caller).put(std::uint64_t{0}).counted(path), probe.id);
    };
    const std::string flags(2, '\0');
    EXPECT_EQ(status_of(""), DecodeStatus::bad_path);
    EXPECT_EQ(status_of(flags + "no end"), DecodeStatus::bad_path);
    EXPECT_EQ(status_of(flags + std::string(ARGTRACE_PATH_MAX - 1, '/')), DecodeStatus::bad_length);
}

TEST_F(MalformedRecord, Special) {
    EXPECT_EQ(status(Data(), ARGTRACE_ID_CLOCK), DecodeStatus::bad_clock_record);
    EXPECT_EQ(status(Data().put(std::uint64_t{1000}), ARGTRACE_ID_CLOCK),
              DecodeStatus::bad_clock_record);
    EXPECT_EQ(status(Data().put(std::uint64_t{0}).put(std::uint64_t{0}), ARGTRACE_ID_TASK),
              DecodeStatus::bad_task_record);
    EXPECT_EQ(status(vfs_read_data(1), ARGTRACE_ID_UNREADABLE + 1),
              DecodeStatus::bad_unreadable_record);
    EXPECT_EQ(status(vfs_read_data(1), ARGTRACE_ID_UNREADABLE + 77), DecodeStatus::unknown_probe);
}

TEST_F(MalformedRecord, Named) {
    EXPECT_EQ(named_status(Data()), DecodeStatus::caller_cut_off);
    EXPECT_EQ(named_status(Data().put(caller)), DecodeStatus::unterminated_name);
    EXPECT_EQ(named_status(Data().put(caller).put(std::uint64_t{0x6161616161616161})),
              DecodeStatus::unterminated_name);
    EXPECT_EQ(named_status(Data().put(caller).text("abcdefg")), DecodeStatus::data_cut_off);
    EXPECT_EQ(named_status(Data().put(caller).named("file", ARGTRACE_TYPE_PTR, std::uint16_t{0})),
              DecodeStatus::data_cut_off);
    EXPECT_EQ(named_status(Data().put(caller).named("fill", ARGTRACE_TYPE_PTR, std::uint64_t{0})),
              DecodeStatus::name_mismatch);
    EXPECT_EQ(named_status(Data().put(caller).named("file", ARGTRACE_TYPE_U64, std::uint64_t{0})),
              DecodeStatus::type_mismatch);
    EXPECT_EQ(named_status(file().end_of_names()), DecodeStatus::missing_argument);
    EXPECT_EQ(named_status(named().put(std::uint64_t{0}).put(std::uint64_t{0})),
              DecodeStatus::excess_data);

    Probe short_one = vfs_read(2);
    short_one.args.resize(1);
    schema.add(short_one);
    EXPECT_EQ(status(named(), 2, ARGTRACE_FORMAT_NAMED), DecodeStatus::unclosed_list);
}

TEST(DecodeStatusTest, EachHasItsSentence) {
    EXPECT_EQ(describe(DecodeStatus::bad_magic), "a packet does not begin as one");
    for (int status = 0; status <= static_cast<int>(DecodeStatus::bad_unreadable_bits); ++status) {
        for (int other = 0; other < status; ++other)
            EXPECT_NE(describe(static_cast<DecodeStatus>(status)),
                      describe(static_cast<DecodeStatus>(other)));
    }
}

/// Probes 1 to 4.
Schema probes_of_every_kind() {
    Schema schema;
    schema.add(vfs_read(1));
    schema.add(all_types(2));
    schema.add(with_structs(3));
    schema.add(with_outputs(4));
    return schema;
}

// Deterministic: flips bytes of good packets and decodes whatever results, out of a buffer of
// exactly the packet's size, so that a sanitizer sees every step beside it.
TEST(DecodeFuzz, CorruptedPacketsAreReadWithinTheirBytes) {
    Schema schema = probes_of_every_kind();
    std::mt19937 random(20240501);
    auto below = [&](std::size_t limit) { return random() % limit; };

    std::size_t events = 0, complaints = 0;
    for (int round = 0; round < 20000; ++round) {
        bool named = round % 2;
        PacketBuilder packet(1024, 1000);
        packet.header().format = named ? ARGTRACE_FORMAT_NAMED : 0;
        packet.task(1, 1, "fuzz", 1000);
        packet.record(2, 1001, named ? all_named() : all_compact(), 1);
        packet.clock(0x100000000);
        packet.record(3, 0x100000000, named ? structs_named(1) : structs_compact(1), 1);
        packet.record(2, 0x100000001, named ? all_named() : all_compact(), 1);
        packet.record(4, 0x100000002, outputs("eight ch", ARGTRACE_TEXT_CUT), 1);
        std::vector<std::byte> bytes = packet.bytes();
        for (std::size_t flips = below(6); flips > 0; --flips)
            bytes[below(packet.end())] = static_cast<std::byte>(below(256));

        Decoder decoder;
        EventBatch batch;
        if (decoder.open(bytes) != DecodeStatus::ok)
            continue;
        std::size_t limit = below(8) == 0 ? below(2048) : packet.end();
        while (decoder.decode(limit, below(256), schema, batch) != DecodeStatus::ok) {
            ++complaints;
            if (!decoder.skip(limit))
                break;
        }
        EXPECT_LE(decoder.offset(), bytes.size());
        for (const Event &event : batch.events)
            EXPECT_EQ(batch.values_of(event).size(), event.probe->args.size());
        for (const Value &value : batch.values) {
            if (value.has_bytes()) {
                EXPECT_LE(value.low + value.high, batch.bytes.size());
            }
        }
        events += batch.events.size();
    }
    EXPECT_GT(events, 10000u);
    EXPECT_GT(complaints, 1000u);
}

/// Arguments of every kind, few different ones or many: with shared values the calls are the same.
TEST(DecodeShared, CallsAreTheSameWithFewerValues) {
    Schema schema = probes_of_every_kind();
    Probe none = vfs_read(5);
    none.args.clear();
    schema.add(none);
    std::mt19937 random(20261124);
    for (const unsigned different : {1u, 40u, 100000u}) {
        PacketBuilder packet(256 * 1024, 1000);
        packet.task(1, 1, "dd", 1000);
        for (std::uint64_t i = 0; i < 2000; ++i) {
            const std::uint64_t clock = 1000 + i;
            switch (random() % 6) {
            case 0:
                packet.record(2, clock, all_compact(), 1);
                break;
            case 1:
                packet.record(3, clock, structs_compact(static_cast<std::uint8_t>(random() % 2)), 1);
                break;
            case 2:
                packet.record(4, clock, outputs(random() % 2 ? "one" : "other"), 1);
                break;
            case 3:
                packet.record(5, clock, Data().put(caller), 1);
                break;
            default:
                packet.record(1, clock, vfs_read_data(random() % different), 1);
            }
        }
        Decoder decoder;
        EventBatch apart, together;
        ASSERT_EQ(decoder.open(packet.bytes()), DecodeStatus::ok);
        ASSERT_EQ(decoder.decode(packet.end(), 0, schema, apart), DecodeStatus::ok);
        ASSERT_EQ(decoder.open(packet.bytes()), DecodeStatus::ok);
        SharedArguments shared(500);
        ASSERT_EQ(decoder.decode(packet.end(), 0, schema, together, &shared), DecodeStatus::ok);
        ASSERT_EQ(together.events.size(), apart.events.size());
        for (std::size_t i = 0; i < apart.events.size(); ++i) {
            const EventView one = apart.view(apart.events[i]), other = together.view(together.events[i]);
            ASSERT_EQ(one.event->probe, other.event->probe);
            ASSERT_EQ(one.values.size(), other.values.size());
            for (std::size_t k = 0; k < one.values.size(); ++k) {
                const Value &a = one.values[k], &b = other.values[k];
                ASSERT_EQ(a.type, b.type);
                ASSERT_EQ(a.captured, b.captured);
                if (a.has_bytes() && a.captured) {
                    ASSERT_TRUE(std::ranges::equal(one.bytes_of(a), other.bytes_of(b)));
                } else {
                    ASSERT_EQ(a, b);
                }
            }
        }
        if (different < 1000) {
            EXPECT_LT(together.values.size(), apart.values.size() / 10);
        } else {
            EXPECT_LT(together.values.size(), apart.values.size());
        }
    }
}

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

class ReturnTest : public DecodeTest {
protected:
    static Probe probe(std::uint32_t id, bool last) {
        Probe probe;
        probe.id = id;
        probe.flags = ARGTRACE_PROBE_RETURN;
        probe.function = "f";
        Argument result = argument("ret", ARGTRACE_TYPE_S32);
        result.loc = ARGTRACE_LOC_RETURN;
        probe.args = {argument("a", ARGTRACE_TYPE_U64), argument("b", ARGTRACE_TYPE_U16)};
        probe.args.insert(last ? probe.args.end() : probe.args.begin(), result);
        return probe;
    }

    ReturnTest() {
        schema.add(probe(70, true));
        schema.add(probe(71, false));
    }

    static Data data(std::uint64_t duration) {
        return Data()
            .put(std::uint64_t{0xcafe}) // the caller
            .put(duration)
            .put(std::uint64_t{7})
            .put(std::uint16_t{8})
            .put(std::int32_t{-2});
    }
};

TEST_F(ReturnTest, TimesAreThoseOfTheEntry) {
    PacketBuilder packet;
    packet.record(70, 5000, data(1200));
    packet.record(71, 5100, data(0));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    ASSERT_EQ(batch.events.size(), 2u);
    const Event &event = batch.events[0];
    EXPECT_EQ(event.ts, 3800u);
    EXPECT_EQ(event.duration, 1200u);
    EXPECT_EQ(event.end(), 5000u);
    EXPECT_EQ(event.clock, 5000u) << "which is what orders events";
    EXPECT_EQ(event.caller, 0xcafeu);
    EXPECT_EQ(batch.values_of(event)[2].low, minus(-2));
    const auto second = batch.values_of(batch.events[1]);
    EXPECT_EQ(second[0].low, minus(-2)) << "behind the arguments, wherever it is among them";
    EXPECT_EQ(second[1].low, 7u);
    EXPECT_EQ(second[2].low, 8u);
    EXPECT_TRUE(batch.events[1].has_duration());
}

TEST_F(ReturnTest, DurationsAreConvertedAsTimesAre) {
    PacketBuilder packet;
    packet.header().clock_id = ARGTRACE_CLOCK_TSC;
    packet.header().mult = (1u << ARGTRACE_MULT_SHIFT) / 2; // two ticks a nanosecond
    packet.header().ns = 1000000;
    packet.record(70, 1000 + 4000, data(600));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(batch.events.at(0).duration, 300u);
    EXPECT_EQ(batch.events.at(0).ts, 1000000u + 2000 - 300);
}

TEST_F(ReturnTest, OthersHaveNoDuration) {
    PacketBuilder packet;
    packet.record(1, 1000, vfs_read_data(1));
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_FALSE(batch.events.at(0).has_duration());
    EXPECT_EQ(batch.events.at(0).end(), batch.events.at(0).ts);
}

TEST_F(ReturnTest, MayNotEndBeforeTheDuration) {
    PacketBuilder packet;
    packet.record(70, 5000, Data().put(std::uint64_t{0xcafe}));
    EXPECT_EQ(decode(packet), DecodeStatus::duration_cut_off);
    EXPECT_TRUE(batch.events.empty());
}

} // namespace
} // namespace argtrace
