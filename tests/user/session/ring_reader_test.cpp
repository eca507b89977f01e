// SPDX-License-Identifier: GPL-2.0-only
#include "session/ring_reader.h"

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/fake_ring.h"

namespace argtrace {
namespace {

using test::Data;
using test::FakeRing;
using test::vfs_read;

class RingReaderTest : public testing::Test {
protected:
    RingReaderTest() { schema.add(vfs_read(1)); }

    /// The `count` arguments of the events between the reader's position and the head.
    std::vector<std::uint64_t> drain(RingReader &reader) {
        batch.clear();
        reader.drain(reader.look().head, schema, batch);
        std::vector<std::uint64_t> counts;
        for (const Event &event : batch.events)
            counts.push_back(batch.values_of(event)[2].low);
        return counts;
    }

    static std::vector<std::uint64_t> numbers(std::uint64_t from, std::uint64_t to) {
        std::vector<std::uint64_t> numbers;
        for (std::uint64_t i = from; i < to; ++i)
            numbers.push_back(i);
        return numbers;
    }

    FakeRing ring;
    Schema schema;
    EventBatch batch;
};

TEST_F(RingReaderTest, EmptyRing) {
    RingReader reader(ring.view());
    EXPECT_TRUE(reader.look().idle);
    EXPECT_TRUE(drain(reader).empty());
    EXPECT_EQ(reader.position(), 0u);
    EXPECT_EQ(reader.unreadable().packets, 0u);
}

TEST_F(RingReaderTest, ReadsWhatIsPublishedOnce) {
    RingReader reader(ring.view());
    ring.call(1000, 0);
    ring.call(1001, 1);
    ring.write(1, 1002, test::vfs_read_data(2)); // reserved, not complete
    EXPECT_EQ(drain(reader), numbers(0, 2));
    EXPECT_EQ(batch.events[1].ts, 1001u);
    EXPECT_EQ(batch.events[1].comm_view(), "fake");
    EXPECT_TRUE(drain(reader).empty());
    ring.publish();
    EXPECT_EQ(drain(reader), numbers(2, 3));
    EXPECT_EQ(reader.position(), ring.control.head);
}

TEST_F(RingReaderTest, DrainDoesNotRelease) {
    RingReader reader(ring.view());
    ring.call(1000, 0);
    drain(reader);
    EXPECT_EQ(ring.reader.tail, 0u);
    EXPECT_EQ(reader.unreleased(ring.control.head), ring.control.head);
    reader.release(reader.position());
    EXPECT_EQ(ring.reader.tail, ring.control.head);
    EXPECT_EQ(reader.unreleased(ring.control.head), 0u);
}

TEST_F(RingReaderTest, ManyLaps) {
    RingReader reader(ring.view());
    std::uint64_t next = 0, read = 0;
    for (int lap = 0; lap < 500; ++lap) {
        for (int burst = lap % 11; burst > 0; --burst)
            next += ring.call(1000 + next, next);
        std::uint64_t published = next;
        EXPECT_EQ(drain(reader), numbers(read, published));
        read = published;
        reader.release(reader.position());
    }
    EXPECT_EQ(ring.control.lost, 0u);
    EXPECT_GT(ring.control.head, 20 * reader.size());
    EXPECT_EQ(reader.unreadable().records + reader.unreadable().packets, 0u);
}

TEST_F(RingReaderTest, PacketFilledToItsEndWithAnOldUsed) {
    RingReader reader(ring.view());
    Probe small = vfs_read(2);
    small.args.clear();
    schema.add(small);
    auto fill = [&] {
        int calls = 0;
        do {
            ring.write(2, 1000, Data().put(std::uint64_t{1}));
            ++calls;
        } while (ring.control.reserve % FakeRing::packet_size != 0 && calls < 100);
        ring.publish();
        return calls;
    };
    auto count = [&] {
        batch.clear();
        reader.drain(reader.look().head, schema, batch);
        reader.release(reader.position());
        return static_cast<int>(batch.events.size());
    };
    // 64 + 40 bytes, then records of 24: the last of 408 ends exactly at 512.
    for (int lap = 0; lap < 12; ++lap) {
        int written = fill();
        ASSERT_EQ(ring.control.head % FakeRing::packet_size, 0u);
        ring.packet(ring.control.head - 1).used = 104; // what is left of an earlier lap
        EXPECT_EQ(count(), written);
    }
    EXPECT_EQ(reader.unreadable().packets, 0u);
}

TEST_F(RingReaderTest, FullRingIsReadInFull) {
    RingReader reader(ring.view());
    std::uint64_t written = 0;
    while (ring.call(1000 + written, written))
        ++written;
    EXPECT_EQ(ring.control.lost, 1u);
    EXPECT_EQ(reader.lost(), 1u);
    EXPECT_EQ(drain(reader), numbers(0, written));
}

TEST_F(RingReaderTest, NextReaderGoesOnWhereTheTailStands) {
    for (std::uint64_t i = 0; i < 8; ++i)
        ring.call(1000 + i, i);
    {
        RingReader reader(ring.view());
        drain(reader);
        reader.release(batch.events[3].position); // in the middle of a packet
    }
    RingReader reader(ring.view());
    EXPECT_EQ(drain(reader), numbers(3, 8));
    EXPECT_EQ(batch.events[0].ts, 1003u);
    EXPECT_EQ(batch.events[0].comm_view(), "fake"); // said at the start of the packet
}

TEST_F(RingReaderTest, TailBetweenRecordsOfAClosedPacket) {
    std::uint64_t written = 0;
    while (ring.control.head < 3 * FakeRing::packet_size)
        ring.call(1000 + written, written), ++written;
    ring.reader.tail = FakeRing::packet_size - 1; // in what is unused of the first
    RingReader reader(ring.view());
    auto counts = drain(reader);
    ASSERT_FALSE(counts.empty());
    EXPECT_EQ(counts, numbers(counts[0], written));
    EXPECT_EQ(batch.events[0].position / FakeRing::packet_size, 1u);
    EXPECT_EQ(reader.unreadable().packets, 0u);
}

TEST_F(RingReaderTest, TailThatIsNonsense) {
    RingReader writer_side(ring.view());
    std::uint64_t written = 0;
    while (ring.control.head < 10 * FakeRing::packet_size) {
        ring.call(1000 + written, written), ++written;
        ring.reader.tail = ring.control.head;
    }
    // The head is in packet 10: of the four, 7 is the oldest that is whole.
    std::uint64_t head = ring.control.head;
    for (std::uint64_t tail :
         {head + 1, ~std::uint64_t{0}, std::uint64_t{0}, head - writer_side.size() - 1}) {
        ring.reader.tail = tail;
        RingReader reader(ring.view());
        EXPECT_EQ(ring.reader.tail, 7u * FakeRing::packet_size) << tail;
        auto counts = drain(reader);
        ASSERT_FALSE(counts.empty());
        EXPECT_EQ(counts, numbers(counts[0], written));
        EXPECT_EQ(batch.events[0].position / FakeRing::packet_size, 7u);
        EXPECT_EQ(reader.unreadable().packets, 0u);
    }
}

TEST_F(RingReaderTest, TailWithinTheRingButOverwritten) {
    std::uint64_t written = 0;
    while (ring.control.head < 4 * FakeRing::packet_size) {
        ring.call(1000 + written, written), ++written;
        ring.reader.tail = ring.control.head;
    }
    // Less than a ring before the head, but in a packet that the newest one has replaced.
    ring.reader.tail = ring.control.head - FakeRing::packet_size * 4 + 8;
    RingReader reader(ring.view());
    auto counts = drain(reader);
    EXPECT_EQ(reader.unreadable().packets, 1u);
    EXPECT_EQ(reader.unreadable().why, DecodeStatus::bad_sequence);
    ASSERT_FALSE(counts.empty());
    EXPECT_EQ(counts, numbers(counts[0], written));
}

TEST_F(RingReaderTest, BrokenPacketIsPassedOver) {
    std::uint64_t written = 0;
    while (ring.control.head < 3 * FakeRing::packet_size)
        ring.call(1000 + written, written), ++written;
    ring.packet(FakeRing::packet_size).magic = 0;
    RingReader reader(ring.view());
    auto counts = drain(reader);
    EXPECT_EQ(reader.unreadable().packets, 1u);
    EXPECT_EQ(reader.unreadable().why, DecodeStatus::bad_magic);
    EXPECT_EQ(counts.front(), 0u);
    EXPECT_EQ(counts.back(), written - 1);
    EXPECT_LT(counts.size(), written);
    EXPECT_EQ(reader.position(), ring.control.head);
}

TEST_F(RingReaderTest, BrokenRecordLosesTheRestOfItsPacket) {
    ring.call(1000, 0);
    std::uint64_t at = ring.control.head;
    ring.call(1001, 1);
    reinterpret_cast<argtrace_record *>(ring.at(at))->size = 12;
    RingReader reader(ring.view());
    EXPECT_EQ(drain(reader), numbers(0, 1));
    EXPECT_EQ(reader.unreadable().packets, 1u);
    ring.call(1002, 2); // the same packet
    EXPECT_TRUE(drain(reader).empty());
    std::uint64_t next = 3;
    while (ring.control.head < FakeRing::packet_size)
        ring.call(1000 + next, next), ++next;
    EXPECT_EQ(drain(reader), numbers(next - 1, next)); // the first of the next one
    EXPECT_EQ(reader.unreadable().packets, 1u);
}

TEST_F(RingReaderTest, UsedThatIsNonsense) {
    while (ring.control.head < FakeRing::packet_size)
        ring.call(1000, 5);
    ring.packet(0).used = 8;
    RingReader reader(ring.view());
    EXPECT_EQ(drain(reader).size(), 1u); // that of the second packet
    EXPECT_EQ(reader.unreadable().why, DecodeStatus::bad_used);
}

TEST_F(RingReaderTest, PacketOfAnotherCpu) {
    ring.call(1000, 0);
    ring.packet(0).cpu = 1;
    RingReader reader(ring.view());
    EXPECT_TRUE(drain(reader).empty());
    EXPECT_EQ(reader.unreadable().why, DecodeStatus::bad_cpu);
}

TEST_F(RingReaderTest, UnknownProbeReloadsTheSchema) {
    std::vector<Probe> known = {vfs_read(1)};
    int asked = 0;
    Schema live([&] {
        ++asked;
        return known;
    });
    live.reload();
    RingReader reader(ring.view());
    ring.call(1000, 0);
    ring.call(1001, 1, 2);
    known.push_back(vfs_read(2));
    reader.drain(reader.look().head, live, batch);
    EXPECT_EQ(batch.events.size(), 2u);
    EXPECT_EQ(batch.events[1].probe->id, 2u);
    EXPECT_EQ(asked, 2);

    ring.call(1002, 2, 3); // one that nobody knows
    ring.call(1003, 3);
    reader.drain(reader.look().head, live, batch);
    EXPECT_EQ(batch.events.size(), 3u);
    EXPECT_EQ(reader.unreadable().records, 1u);
    EXPECT_EQ(reader.unreadable().why, DecodeStatus::unknown_probe);
}

TEST_F(RingReaderTest, IdleOnlyIfNothingIsOnItsWay) {
    RingReader reader(ring.view());
    ring.call(1000, 0);
    EXPECT_TRUE(reader.look().idle);
    ring.control.active = 1;
    EXPECT_FALSE(reader.look().idle);
    ring.control.active = 0;
    ring.write(1, 1001, test::vfs_read_data(1)); // reserved by a writer that has left
    EXPECT_FALSE(reader.look().idle);
    ring.publish();
    EXPECT_TRUE(reader.look().idle);
}

/// A control page that is touched for the first time when `at_touch` runs: whatever reads it reads
/// what that has made of it, and what was read elsewhere before that is older.
class WatchedControl {
public:
    /// A page begins with that member.
    explicit WatchedControl(std::size_t member,
                            std::function<void(argtrace_ring_control &)> at_touch)
        : at_touch_(std::move(at_touch)) {
        const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        void *pages =
            ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            throw std::bad_alloc();
        pages_ = static_cast<std::byte *>(pages);
        control = new (pages_ + page - member) argtrace_ring_control{};
        watched_ = this;
        struct sigaction action {};
        action.sa_handler = touched;
        ::sigaction(SIGSEGV, &action, &before_);
    }
    ~WatchedControl() {
        ::sigaction(SIGSEGV, &before_, nullptr);
        ::munmap(pages_, 2 * page());
    }
    WatchedControl(const WatchedControl &) = delete;
    WatchedControl &operator=(const WatchedControl &) = delete;

    void watch() { ::mprotect(pages_ + page(), page(), PROT_NONE); }

    argtrace_ring_control *control;
    int touches = 0;

private:
    static std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

    static void touched(int) {
        if (watched_->touches++ > 0)
            std::abort(); // a fault that is not ours
        ::mprotect(watched_->pages_ + page(), page(), PROT_READ | PROT_WRITE);
        watched_->at_touch_(*watched_->control);
    }

    static inline WatchedControl *watched_;
    std::function<void(argtrace_ring_control &)> at_touch_;
    std::byte *pages_;
    struct sigaction before_ {};
};

// A writer that is at work when look() begins, and done when it first sees `active`: a head that
// was read before is too old for what `active` then says.
TEST_F(RingReaderTest, WhoeverSeesNobodyAtWorkSeesWhatWasPublished) {
    WatchedControl watched(offsetof(argtrace_ring_control, active),
                           [](argtrace_ring_control &control) {
                               control.reserve = 128;
                               control.head = 128;
                               control.active = 0;
                           });
    RingView view = ring.view();
    view.control = watched.control;
    const RingReader reader(view);
    watched.control->active = 1;
    watched.watch();
    const RingReader::Glance glance = reader.look();
    EXPECT_EQ(watched.touches, 1);
    EXPECT_TRUE(glance.idle);
    EXPECT_EQ(glance.head, 128u);
}

} // namespace
} // namespace argtrace
