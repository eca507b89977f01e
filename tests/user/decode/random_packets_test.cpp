// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "support/decoded_packets.h"

namespace argtrace {
namespace {

using test::all_compact;
using test::all_named;
using test::all_types;
using test::caller;
using test::Data;
using test::outputs;
using test::PacketBuilder;
using test::structs_compact;
using test::structs_named;
using test::vfs_read;
using test::vfs_read_data;
using test::with_outputs;
using test::with_structs;

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
                packet.record(3, clock, structs_compact(static_cast<std::uint8_t>(random() % 2)),
                              1);
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
            const EventView one = apart.view(apart.events[i]),
                            other = together.view(together.events[i]);
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

} // namespace
} // namespace argtrace
