// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include "support/decoded_packets.h"

namespace argtrace {
namespace {

using test::DecodeTest;
using test::PacketBuilder;
using test::vfs_read_data;

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

} // namespace
} // namespace argtrace
