// SPDX-License-Identifier: GPL-2.0-only
#include "session/snapshot.h"

#include <gtest/gtest.h>

#include <array>

#include "decode/decode.h"
#include "session/packet_copy.h"
#include "support/fake_ring.h"

namespace argtrace {
namespace {

using test::FakeRing;
using test::vfs_read;

constexpr std::uint32_t size = FakeRing::packet_size;
constexpr std::uint32_t nr_packets = 4;

class SnapshotTest : public testing::Test {
protected:
    SnapshotTest() { schema.add(vfs_read(1)); }

    void call() {
        ring.call(1000 + written, written);
        ++written;
    }

    /// Calls until the newest packet has that number, and one more call in it.
    void fill_up_to(std::uint64_t seq) {
        while (ring.control.head <= seq * size)
            call();
        call();
    }

    /// The `count` arguments of a packet's calls; fails the test where it cannot be decoded.
    std::vector<std::uint64_t> decode(std::span<const std::byte> bytes) {
        std::array<std::byte, size> whole{};
        std::copy(bytes.begin(), bytes.end(), whole.begin());
        Decoder decoder;
        EventBatch batch;
        EXPECT_EQ(decoder.open(whole), DecodeStatus::ok);
        EXPECT_EQ(decoder.decode(bytes.size(), 0, schema, batch), DecodeStatus::ok);
        std::vector<std::uint64_t> counts;
        for (const Event &event : batch.events)
            counts.push_back(batch.values_of(event)[2].low);
        return counts;
    }

    std::vector<std::uint64_t> decode(const RingSnapshot &snapshot) {
        std::vector<std::uint64_t> all;
        for (const SavedPacket &packet : snapshot.packets()) {
            argtrace_packet header;
            std::memcpy(&header, packet.bytes.data(), sizeof(header));
            EXPECT_EQ(header.seq, packet.seq);
            EXPECT_EQ(header.used, packet.bytes.size());
            auto some = decode(packet.bytes);
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }

    std::vector<std::uint64_t> numbers(std::uint64_t from, std::uint64_t to) {
        std::vector<std::uint64_t> numbers;
        for (std::uint64_t i = from; i < to; ++i)
            numbers.push_back(i);
        return numbers;
    }

    FakeRing ring{3, nr_packets, FakeRing::Mode::flight};
    Schema schema;
    std::uint64_t written = 0;
};

TEST_F(SnapshotTest, OfAnEmptyRing) {
    RingSnapshot snapshot(ring.view());
    snapshot.copy();
    EXPECT_TRUE(snapshot.packets().empty());
    EXPECT_EQ(snapshot.missed(), 0u);
    EXPECT_EQ(snapshot.cpu(), 3u);
}

TEST_F(SnapshotTest, EveryCallIsThereOrOverwritten) {
    for (int i = 0; i < 300; ++i) {
        call();
        RingSnapshot snapshot(ring.view());
        snapshot.copy();
        EXPECT_EQ(decode(snapshot), numbers(ring.control.overwritten, written));
        EXPECT_EQ(snapshot.missed(), 0u);
        EXPECT_LE(snapshot.packets().size(), nr_packets);
    }
    EXPECT_GT(ring.control.overwritten, 0u);
    EXPECT_EQ(ring.control.lost, 0u) << "nobody is waited for";
}

TEST_F(SnapshotTest, OfAHeadAtTheEndOfAPacket) {
    Probe small = vfs_read(2);
    small.args.clear();
    schema.add(small);
    // 64 + 40 bytes, then records of 24: the last of 408 ends exactly at 512.
    do
        ring.write(2, 1000, test::Data().put(std::uint64_t{1}));
    while (ring.control.reserve % size != 0);
    ring.publish();
    RingSnapshot snapshot(ring.view());
    snapshot.copy();
    ASSERT_EQ(snapshot.packets().size(), 1u);
    EXPECT_EQ(snapshot.packets()[0].bytes.size(), size);
}

TEST_F(SnapshotTest, WhatIsNotCompleteIsLeftOut) {
    call();
    ring.write(1, 1001, test::vfs_read_data(1)); // reserved, not published
    RingSnapshot snapshot(ring.view());
    snapshot.copy();
    EXPECT_EQ(decode(snapshot), numbers(0, 1));
}

TEST_F(SnapshotTest, WhatIsRecordedLaterIsLeftOut) {
    fill_up_to(2);
    std::uint64_t before = written;
    RingSnapshot snapshot(ring.view());
    while (ring.control.head <= 3 * std::uint64_t{size})
        call(); // closes the packet that was the newest, and opens the last free one
    snapshot.copy();
    EXPECT_EQ(decode(snapshot), numbers(0, before));
    EXPECT_EQ(snapshot.missed(), 0u);
}

TEST_F(SnapshotTest, PacketsOverwrittenBeforeTheyAreCopiedAreMissed) {
    fill_up_to(7); // 4 to 7 are there
    std::uint64_t before = written;
    RingSnapshot snapshot(ring.view());
    fill_up_to(9); // over 4 and 5
    snapshot.copy();
    EXPECT_EQ(snapshot.missed(), 2u);
    ASSERT_EQ(snapshot.packets().size(), 2u);
    EXPECT_EQ(snapshot.packets()[0].seq, 6u);
    auto calls = decode(snapshot);
    ASSERT_FALSE(calls.empty());
    EXPECT_EQ(calls, numbers(calls[0], before));
}

TEST_F(SnapshotTest, AWholeLapBetweenLookingAndCopyingMissesAll) {
    fill_up_to(7);
    RingSnapshot snapshot(ring.view());
    fill_up_to(7 + nr_packets);
    snapshot.copy();
    EXPECT_TRUE(snapshot.packets().empty());
    EXPECT_EQ(snapshot.missed(), nr_packets);
}

TEST_F(SnapshotTest, RubbishInThePlaceOfUsedDoesNoHarm) {
    fill_up_to(7);
    for (std::uint32_t used : {0u, 1u, 63u, 513u, 0xffffffffu}) {
        RingSnapshot snapshot(ring.view());
        ring.packet(4 * std::uint64_t{size}).used = used;
        ring.packet(4 * std::uint64_t{size}).seq = 8; // it is being overwritten
        snapshot.copy();
        EXPECT_EQ(snapshot.missed(), 1u);
        EXPECT_EQ(snapshot.packets().size(), 3u);
    }
}

/// One packet, step by step, with the kernel at work between the steps.
class PacketCopyTest : public SnapshotTest {
protected:
    PacketCopyTest() {
        fill_up_to(7);
        original = ring_bytes();
    }

    std::array<std::byte, size> ring_bytes() {
        std::array<std::byte, size> bytes{};
        std::memcpy(bytes.data(), ring.at(5 * std::uint64_t{size}), size);
        return bytes;
    }

    std::array<std::byte, size> original{}, bytes{};
};

TEST_F(PacketCopyTest, NothingHappens) {
    PacketCopy packet(ring.view(), 5);
    packet.copy(0, bytes);
    EXPECT_TRUE(packet.intact());
    EXPECT_EQ(bytes, original);
    EXPECT_EQ(packet.used(), ring.packet(5 * std::uint64_t{size}).used);
}

TEST_F(PacketCopyTest, OverwrittenBeforeItIsCopied) {
    fill_up_to(9);
    PacketCopy packet(ring.view(), 5);
    packet.copy(0, bytes);
    EXPECT_FALSE(packet.intact());
}

TEST_F(PacketCopyTest, OverwrittenWhileItIsCopied) {
    // However far the copy has come when the writer begins, and however far the writer gets.
    for (std::size_t at = 0; at <= size; at += 8) {
        for (int calls = 1; calls < 6; ++calls) {
            FakeRing backup = ring;
            PacketCopy packet(ring.view(), 5);
            packet.copy(0, std::span(bytes).first(at));
            fill_up_to(8);
            while (ring.control.head <= 9 * std::uint64_t{size})
                call(); // the first call in the place of 5
            for (int i = 1; i < calls; ++i)
                call();
            packet.copy(at, std::span(bytes).subspan(at));
            EXPECT_FALSE(packet.intact()) << at << ", " << calls;
            ring.restore(backup);
        }
    }
}

TEST_F(PacketCopyTest, TheFirstStoreOfTheWriterTells) {
    // seq has changed and nothing else has, as it may be seen on another CPU.
    PacketCopy packet(ring.view(), 5);
    ring.packet(5 * std::uint64_t{size}).seq = 9;
    packet.copy(0, bytes);
    EXPECT_FALSE(packet.intact());
}

TEST_F(PacketCopyTest, OverwrittenAfterItWasCheckedDoesNotMatter) {
    PacketCopy packet(ring.view(), 5);
    packet.copy(0, bytes);
    ASSERT_TRUE(packet.intact());
    fill_up_to(20);
    EXPECT_EQ(bytes, original);
}

TEST_F(PacketCopyTest, OtherPacketsMayGo) {
    PacketCopy packet(ring.view(), 5);
    packet.copy(0, std::span(bytes).first(256));
    fill_up_to(8); // over 4
    packet.copy(256, std::span(bytes).subspan(256));
    EXPECT_TRUE(packet.intact());
    EXPECT_EQ(bytes, original);
}

} // namespace
} // namespace argtrace
