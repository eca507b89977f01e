// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include "support/decoded_packets.h"

namespace argtrace {
namespace {

using test::argument;
using test::caller;
using test::Data;
using test::DecodeTest;
using test::minus;
using test::PacketBuilder;
using test::vfs_read_data;

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

TEST_F(ReturnTest, CallsThatWereLeftHaveReturnedNothing) {
    PacketBuilder packet;
    packet.record(ARGTRACE_ID_LEFT + 71, 5000, data(1200));
    packet.record(71, 5100, data(0));
    packet.record(ARGTRACE_ID_LEFT_MAX + 1, 5200, data(0)); // of a later version
    ASSERT_EQ(decode(packet), DecodeStatus::ok);
    ASSERT_EQ(batch.events.size(), 2u);
    const Event &event = batch.events[0];
    EXPECT_TRUE(event.left);
    EXPECT_FALSE(event.has_duration()) << "it is the longest that it can have taken";
    EXPECT_FALSE(event.has_unread);
    EXPECT_EQ(event.ts, 3800u);
    EXPECT_EQ(event.end(), 5000u);
    const auto values = batch.values_of(event);
    EXPECT_FALSE(values[0].captured);
    EXPECT_EQ(values[1].low, 7u);
    EXPECT_EQ(values[2].low, 8u);
    EXPECT_FALSE(batch.events[1].left);
    EXPECT_TRUE(batch.values_of(batch.events[1])[0].captured);
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
