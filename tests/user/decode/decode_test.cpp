// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <gtest/gtest.h>

#include "support/decoded_packets.h"

namespace argtrace {
namespace {

using test::all_compact;
using test::all_named;
using test::all_types;
using test::all_values;
using test::caller;
using test::Data;
using test::DecodeTest;
using test::minus;
using test::PacketBuilder;
using test::structs_compact;
using test::structs_named;
using test::vfs_read;
using test::vfs_read_data;
using test::with_structs;

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
    packet.record(7, 5000, vfs_read_data(4096), 149,
                  ARGTRACE_CTX_IRQS_OFF | ARGTRACE_CTX_HARDIRQ | ARGTRACE_CTX_SOFTIRQ, 2);
    packet.record(7, 5001, vfs_read_data(4096), 149,
                  ARGTRACE_CTX_NMI | ARGTRACE_CTX_HARDIRQ | ARGTRACE_CTX_IRQS_OFF);
    packet.record(7, 5002, vfs_read_data(4096), 149,
                  ARGTRACE_CTX_BH_OFF | ARGTRACE_CTX_NEED_RESCHED);
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

TEST_F(DecodeTest, LongerHeaderOfALaterVersion) {
    PacketBuilder packet;
    packet.record(0xf0000000, 1000, Data()); // 16 bytes that a longer header would take
    packet.record(1, 1000, vfs_read_data(1));
    packet.header().header = 80;
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    EXPECT_EQ(batch.events.size(), 1u);
}

} // namespace
} // namespace argtrace
