// SPDX-License-Identifier: GPL-2.0-only
#include "report/time_order.h"

#include <gtest/gtest.h>

namespace argtrace {
namespace {

class TimeOrderTest : public testing::Test {
protected:
    struct Seen {
        std::uint64_t ts;
        std::uint32_t cpu;
        bool operator==(const Seen &) const = default;
    };

    void add(std::uint32_t cpu, std::initializer_list<std::uint64_t> times) {
        auto packet = std::make_shared<DecodedPacket>();
        packet->cpu = cpu;
        for (const std::uint64_t ts : times) {
            Event &event = packet->batch.events.emplace_back();
            event.ts = ts;
            event.cpu = cpu;
        }
        order.add(std::move(packet));
    }

    std::vector<Seen> up_to(std::uint64_t limit) {
        std::vector<Seen> seen;
        order.advance(limit, [&seen](const TimeOrder::Packet &, const Event &event) {
            seen.push_back({event.ts, event.cpu});
            return true;
        });
        return seen;
    }

    TimeOrder order;
};

// A mark vouches for what is older than it: at the same time another CPU may have an event yet.
TEST_F(TimeOrderTest, AnEventAsOldAsTheLimitWaits) {
    add(1, {10, 20});
    EXPECT_EQ(up_to(20), (std::vector<Seen>{{10, 1}}));
    add(0, {20, 30});
    EXPECT_EQ(up_to(30), (std::vector<Seen>{{20, 0}, {20, 1}}));
    EXPECT_EQ(up_to(31), (std::vector<Seen>{{30, 0}}));
}

TEST_F(TimeOrderTest, TiesByCpu) {
    add(2, {10, 10});
    add(0, {10, 10});
    add(1, {10, 11});
    EXPECT_EQ(up_to(20), (std::vector<Seen>{{10, 0}, {10, 0}, {10, 1}, {10, 2}, {10, 2}, {11, 1}}));
}

} // namespace
} // namespace argtrace
