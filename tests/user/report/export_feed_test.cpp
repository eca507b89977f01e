// SPDX-License-Identifier: GPL-2.0-only
#include "report/export_feed.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/packet_builder.h"

namespace argtrace {
namespace {

/// Keeps what it is given, as text.
struct Heard : SerialExporter {
    std::vector<std::string> said;

    void event(const EventView &view) override {
        said.push_back("call " + std::to_string(view.event->ts) + " " +
                       std::to_string(view.event->tid));
    }
    void lost(std::uint32_t cpu, std::uint64_t ts, std::uint64_t calls) override {
        said.push_back("lost " + std::to_string(ts) + " " + std::to_string(cpu) + ":" +
                       std::to_string(calls));
    }
    void finish() override { said.push_back("end"); }
};

class Feed {
public:
    explicit Feed(std::size_t block_size = 8192) : feed(heard, block_size) {}

    TimeOrder::Packet packet(std::uint32_t cpu, std::uint64_t time, std::uint64_t lost) {
        auto packet = std::make_shared<DecodedPacket>();
        packet->cpu = cpu;
        packet->time = time;
        packet->lost = lost;
        feed.packet(*packet);
        return packet;
    }

    void event(const TimeOrder::Packet &packet, std::uint64_t ts, std::uint32_t tid,
               std::uint64_t duration = Event::unknown_duration) {
        Event event;
        event.ts = ts;
        event.duration = duration;
        event.tid = tid;
        event.probe = &probe_;
        packet->batch.events.reserve(16); // they stay where they are
        packet->batch.events.push_back(event);
        feed.event(packet, packet->batch.events.back());
    }

    Heard heard;
    ExportFeed feed;

private:
    Probe probe_; // without arguments
};

TEST(ExportFeed, OfTheSameTimeTheLongestFirst) {
    Feed feed;
    const auto packet = feed.packet(0, 10, 0);
    feed.event(packet, 10, 1, 5);
    feed.event(packet, 10, 2);
    feed.event(packet, 10, 3, 9);
    feed.event(packet, 10, 4, 5);
    feed.event(packet, 11, 5, 99);
    feed.feed.finish({});
    EXPECT_THAT(feed.heard.said, testing::ElementsAre("call 10 3", "call 10 1", "call 10 4",
                                                      "call 10 2", "call 11 5", "end"));
}

TEST(ExportFeed, CallsComeBeforeThoseTheyMade) {
    Feed feed;
    const auto packet = feed.packet(0, 1, 0);
    // As they returned.
    feed.event(packet, 12, 3, 1);
    feed.event(packet, 14, 4, 1);
    feed.event(packet, 12, 2, 5);
    feed.event(packet, 20, 5, 1);
    feed.event(packet, 10, 1, 15);
    for (std::uint32_t i = 0; i < 8; ++i)
        feed.event(packet, 41 - i, 13 - i);
    feed.feed.finish({});
    EXPECT_THAT(feed.heard.said,
                testing::ElementsAre("call 10 1", "call 12 2", "call 12 3", "call 14 4", "call 20 5",
                                     "call 34 6", "call 35 7", "call 36 8", "call 37 9", "call 38 10",
                                     "call 39 11", "call 40 12", "call 41 13", "end"));
}

TEST(ExportFeed, InBlocksThatKeepTheirPackets) {
    Feed feed(2);
    std::vector<std::weak_ptr<DecodedPacket>> packets;
    for (std::uint32_t i = 0; i < 5; ++i) {
        const auto packet = feed.packet(0, 10 + i, 0);
        feed.event(packet, 10 + i, i);
        packets.push_back(packet);
    }
    EXPECT_THAT(feed.heard.said, testing::ElementsAre("call 10 0", "call 11 1", "call 12 2", "call 13 3"));
    EXPECT_TRUE(packets[3].expired()) << "its block has been handed out";
    EXPECT_FALSE(packets[4].expired());
    feed.feed.finish({});
    EXPECT_EQ(feed.heard.said.size(), 6u);
    EXPECT_TRUE(packets[4].expired());
}

TEST(ExportFeed, LossIsSaidInTheOrderOfTime) {
    Feed feed;
    const auto one = feed.packet(0, 10, 5); // lost before the recording began
    const auto two = feed.packet(0, 30, 7);
    const auto three = feed.packet(1, 20, 0);
    const auto four = feed.packet(1, 40, 1);
    feed.event(one, 10, 1);
    feed.event(three, 20, 2);
    feed.event(two, 30, 3);
    feed.event(four, 41, 4);
    feed.feed.finish({{0, 2}, {1, 4}, {2, 6}});
    EXPECT_THAT(feed.heard.said, testing::ElementsAre("call 10 1", "call 20 2", "lost 30 0:2",
                                                      "call 30 3", "lost 40 1:1", "call 41 4",
                                                      "lost 41 1:3", "lost 41 2:6", "end"));
}

TEST(ExportFeed, LossBeforeCallsThatAreNotWanted) {
    Feed feed;
    (void)feed.packet(0, 10, 0);
    (void)feed.packet(0, 20, 3);
    feed.feed.finish({});
    EXPECT_THAT(feed.heard.said, testing::ElementsAre("lost 20 0:3", "end"));
}

} // namespace
} // namespace argtrace
