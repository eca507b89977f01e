// SPDX-License-Identifier: GPL-2.0-only
#include "record/recorder.h"

#include <algorithm>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <random>

#include "support/fake_ring.h"
#include "support/trace_builder.h"
#include "util/error.h"

namespace argtrace {
namespace {

using test::FakeRing;
using test::vfs_read;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t millisecond = 1000000;
constexpr std::uint64_t part_period = 100 * millisecond; // a record is in the file that soon
constexpr std::uint32_t packet_size = FakeRing::packet_size;

/// Knows one function, in which all callers are.
class OneSymbol : public Symbols {
public:
    std::optional<Symbol> find(CodePlace) const override {
        return Symbol{0xffffffff81000000, "caller", "", 0x1000};
    }
};

class RecorderTest : public testing::Test {
protected:
    RecorderTest() : file_(test::memory_file()), writer_(Fd(::dup(file_.get())), "memory") {
        for (std::uint32_t cpu = 0; cpu < 3; ++cpu)
            rings_.push_back(std::make_unique<FakeRing>(cpu));
        TraceInfo info = test::some_info();
        info.cpus = 3;
        info.packet_size = packet_size;
        writer_.info(info);
    }

    FakeRing &ring(std::size_t cpu) { return *rings_[cpu]; }

    /// Records the first `cpus` CPUs.
    Recorder recorder(std::size_t cpus = 3) {
        std::vector<RingView> views;
        for (std::size_t cpu = 0; cpu < cpus; ++cpu)
            views.push_back(ring(cpu).view());
        return Recorder(
            views, 0, [] { return std::vector{vfs_read(1)}; }, symbols_, writer_);
    }

    /// Calls until a packet is full, and the first one of the next: `step` ns apart. How many.
    unsigned fill_packet(std::size_t cpu, std::uint64_t clock, std::uint64_t step = 10) {
        const std::uint64_t packet = ring(cpu).control.head / packet_size;
        unsigned calls = 0;
        while (ring(cpu).control.head / packet_size == packet && ring(cpu).call(clock))
            ++calls, clock += step;
        return calls;
    }

    /// What a reader finds in the file so far.
    test::Read read() { return test::read_trace(test::contents(file_.get()), workers_, {}, false); }

    /// What one finds when the recording has come to its end.
    test::Read finish(Recorder &recorder) {
        recorder.collect_rest();
        writer_.end();
        writer_.flush();
        return read();
    }

    /// How many events a reader may show that has read the file so far, which goes on.
    std::size_t vouched_for() {
        const test::FileBytes bytes = test::contents(file_.get());
        std::uint64_t limit = 0;
        for (std::size_t at = sizeof(FileHeader); at + sizeof(ChunkHeader) <= bytes.size();) {
            ChunkHeader chunk;
            std::memcpy(&chunk, &bytes[at], sizeof(chunk));
            if (static_cast<ChunkType>(chunk.type) == ChunkType::mark)
                std::memcpy(&limit, &bytes[at + sizeof(chunk)], sizeof(limit));
            at += sizeof(chunk) + chunk.length;
        }
        const std::vector<std::uint64_t> times = read().times;
        return static_cast<std::size_t>(
            std::count_if(times.begin(), times.end(), [&](auto ts) { return ts < limit; }));
    }

    Fd file_;
    TraceWriter writer_;
    OneSymbol symbols_;
    std::vector<std::unique_ptr<FakeRing>> rings_;
    WorkerPool workers_{2};
};

TEST_F(RecorderTest, NothingComesOfNothing) {
    Recorder recorder = this->recorder();
    EXPECT_FALSE(recorder.collect(part_period));
    EXPECT_FALSE(recorder.due());
    EXPECT_EQ(recorder.pressure(), 0);
    const test::Read read = finish(recorder);
    EXPECT_TRUE(read.clean());
    EXPECT_THAT(read.times, IsEmpty());
}

TEST_F(RecorderTest, AWholePacketGoesAtOnceAndAPartOfOneWhenItIsDue) {
    Recorder recorder = this->recorder();
    const std::uint64_t start = part_period;
    ring(1).call(start);
    EXPECT_TRUE(recorder.collect(start + millisecond)) << "no part has been written for long";
    EXPECT_EQ(ring(1).reader.tail, ring(1).control.head);
    EXPECT_FALSE(recorder.collect(start + 2 * millisecond)) << "the mark follows";
    EXPECT_FALSE(recorder.due());

    const unsigned calls = fill_packet(1, start + 3 * millisecond);
    EXPECT_TRUE(recorder.collect(start + 4 * millisecond));
    EXPECT_EQ(ring(1).reader.tail, packet_size) << "what is in the next packet waits";
    EXPECT_EQ(read().times.size(), calls);
    EXPECT_EQ(recorder.due(), start + millisecond + part_period) << "the mark waits for it too";
    EXPECT_TRUE(recorder.collect(start + millisecond + part_period - 1));
    EXPECT_EQ(ring(1).reader.tail, packet_size);
    EXPECT_TRUE(recorder.collect(start + millisecond + part_period));
    EXPECT_EQ(ring(1).reader.tail, ring(1).control.head);
    EXPECT_EQ(read().times.size(), calls + 1);
}

// Otherwise `record` would wake again and again until the part is due, and find nothing to do.
TEST_F(RecorderTest, ARoundThatIsDueHasSomethingToDo) {
    Recorder recorder = this->recorder();
    std::uint64_t now = part_period;
    ring(0).call(now);
    recorder.collect(now); // writes the first part, of a ring
    now += millisecond;
    ring(0).call(now);
    fill_packet(1, now);
    recorder.collect(now);
    int rounds = 0;
    for (; recorder.due() && rounds < 10; ++rounds) {
        ASSERT_GT(*recorder.due(), now);
        now = *recorder.due();
        recorder.collect(now);
    }
    EXPECT_EQ(rounds, 2) << "the parts, and the mark for them";
    EXPECT_EQ(vouched_for(), read().times.size());
    EXPECT_EQ(ring(1).reader.tail, ring(1).control.head);
}

TEST_F(RecorderTest, TheRestIsEverything) {
    Recorder recorder = this->recorder();
    ring(2).call(30);
    ring(0).call(10);
    ring(1).call(20);
    ring(0).call(40);
    const test::Read read = finish(recorder);
    EXPECT_TRUE(read.clean());
    EXPECT_THAT(read.times, ElementsAre(10, 20, 30, 40));
    for (std::size_t cpu = 0; cpu < 3; ++cpu)
        EXPECT_EQ(ring(cpu).reader.tail, ring(cpu).control.head);
}

TEST_F(RecorderTest, WhatAnEarlierReaderHasReadIsNotOurs) {
    ring(0).call(10, 1);
    ring(0).call(20, 2);
    ring(0).reader.tail = ring(0).control.head;
    ring(0).call(30, 3);
    Recorder recorder = this->recorder();
    const test::Read read = finish(recorder);
    EXPECT_TRUE(read.clean());
    EXPECT_THAT(read.times, ElementsAre(30));
}

TEST_F(RecorderTest, NothingIsReleasedThatIsNotInTheFile) {
    TraceWriter full(Fd(::open("/dev/full", O_WRONLY | O_CLOEXEC)), "/dev/full");
    const std::vector views{ring(0).view()};
    Recorder recorder(
        views, 0, [] { return std::vector{vfs_read(1)}; }, symbols_, full);
    fill_packet(0, 1000);
    EXPECT_THROW(recorder.collect(2 * part_period), Error);
    EXPECT_EQ(ring(0).reader.tail, 0u);
}

TEST_F(RecorderTest, AWriterAtWorkHoldsMarksBack) {
    Recorder recorder = this->recorder();
    recorder.collect(part_period);
    ring(0).call(part_period + 5 * millisecond);
    ring(1).control.active = 1; // it may still write of a time that has passed
    recorder.collect(3 * part_period);
    EXPECT_EQ(read().times.size(), 1u);
    EXPECT_EQ(vouched_for(), 0u);
    ASSERT_TRUE(recorder.due()) << "for the mark";

    ring(1).write(1, part_period + millisecond, test::vfs_read_data(0));
    ring(1).publish();
    ring(1).control.active = 0;
    recorder.collect(4 * part_period);
    EXPECT_EQ(vouched_for(), 2u);
    recorder.collect(4 * part_period + millisecond);
    EXPECT_FALSE(recorder.due());
}

TEST_F(RecorderTest, APartThatIsNotInTheFileHoldsMarksBack) {
    Recorder recorder = this->recorder();
    ring(0).call(part_period + 1);
    recorder.collect(2 * part_period); // writes the first part, of a ring
    ring(0).call(2 * part_period + 1); // waits
    fill_packet(1, 2 * part_period + 2);
    recorder.collect(2 * part_period + millisecond);
    const std::size_t in_file = read().times.size();
    EXPECT_LT(vouched_for(), in_file) << "those of CPU 1 are younger than one that is missing";
    recorder.collect(4 * part_period);
    EXPECT_EQ(vouched_for(), read().times.size());
    EXPECT_EQ(read().times.size(), in_file + 1);
}

TEST_F(RecorderTest, PressureAndLossOfItsOwnTime) {
    while (ring(0).call(10)) {
    }
    ASSERT_EQ(ring(0).control.lost, 1u);
    Recorder recorder = this->recorder();
    EXPECT_EQ(recorder.lost(), 0u);
    ring(0).call(10);
    ring(0).call(10);
    recorder.collect(part_period);
    EXPECT_GT(recorder.pressure(), 0.7);
    EXPECT_EQ(recorder.lost(), 2u);
    ASSERT_EQ(recorder.loss().size(), 3u);
    EXPECT_EQ(recorder.loss()[0].lost, 2u);
    EXPECT_EQ(recorder.loss()[1].lost, 0u);
    recorder.collect(2 * part_period);
    EXPECT_EQ(recorder.pressure(), 0);
}

TEST_F(RecorderTest, ARingThatComesLaterIsRecordedFromItsStart) {
    Recorder recorder = this->recorder(2);
    ring(0).call(10);
    recorder.collect(part_period);
    while (ring(2).call(20 + part_period)) {
    }
    const std::vector added{ring(2).view()};
    recorder.add(added);
    EXPECT_EQ(recorder.lost(), 1u) << "lost since the ring was made";
    ASSERT_EQ(recorder.loss().size(), 3u);
    EXPECT_EQ(recorder.loss()[2].cpu, 2u);
    EXPECT_TRUE(recorder.collect(2 * part_period));
    ring(2).call(30 + 2 * part_period);
    const test::Read read = finish(recorder);
    EXPECT_TRUE(read.clean());
    EXPECT_GT(read.times.size(), 20u);
    EXPECT_EQ(read.times.front(), 10u);
    EXPECT_EQ(read.times.back(), 30 + 2 * part_period);
}

// Writers and recorder by turns, in a random but repeatable way: every call is in the file once, in
// the order of time, and no event follows a mark that is later than it.
TEST_F(RecorderTest, RandomRounds) {
    std::mt19937 random(11);
    Recorder recorder = this->recorder(2);
    std::uint64_t now = part_period;
    std::vector<std::uint64_t> written;
    bool unpublished[3] = {};
    for (int step = 0; step < 6000; ++step) {
        now += random() % millisecond;
        if (step == 2000) {
            const std::vector added{ring(2).view()};
            recorder.add(added);
        }
        const std::size_t cpu = random() % (step < 2000 ? 2 : 3);
        switch (random() % 4) {
        case 0: // a call, begun and ended
            if (!unpublished[cpu] && ring(cpu).call(now))
                written.push_back(now);
            break;
        case 1: // a writer begins
            if (!unpublished[cpu] && ring(cpu).write(1, now, test::vfs_read_data(0))) {
                written.push_back(now);
                unpublished[cpu] = true;
                ring(cpu).control.active = 1;
            }
            break;
        case 2: // and ends
            ring(cpu).publish();
            ring(cpu).control.active = 0;
            unpublished[cpu] = false;
            break;
        default:
            recorder.collect(now);
            break;
        }
    }
    for (auto &one : rings_) {
        one->publish();
        one->control.active = 0;
    }
    const test::Read read = finish(recorder);
    EXPECT_TRUE(read.clean()) << read.fault_count;
    EXPECT_GT(written.size(), 1000u);
    EXPECT_EQ(read.times, written);
}

} // namespace
} // namespace argtrace
