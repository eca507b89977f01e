// SPDX-License-Identifier: GPL-2.0-only
#include "report/time_order.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

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

TEST_F(TimeOrderTest, ManyPacketsInAnyPieces) {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> expected, found;
        order = TimeOrder();
        const std::uint32_t cpus = 1 + static_cast<std::uint32_t>(random() % 6);
        std::vector<std::uint64_t> clocks(cpus, 100);
        for (std::uint64_t limit = 100; limit < 400; limit += random() % 60) {
            for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
                while (clocks[cpu] < limit) { // as a mark says
                    auto packet = std::make_shared<DecodedPacket>();
                    packet->cpu = cpu;
                    for (auto left = random() % 20; left > 0; --left, clocks[cpu] += random() % 4) {
                        packet->batch.events.emplace_back().ts = clocks[cpu];
                        expected.emplace_back(clocks[cpu], cpu);
                    }
                    clocks[cpu] += random() % 3;
                    order.add(std::move(packet));
                }
            }
            const std::size_t before = found.size();
            const auto wanted = random() % 50;
            bool all = order.advance(limit, [&](const TimeOrder::Packet &packet, const Event &event) {
                found.emplace_back(event.ts, packet->cpu);
                return found.size() - before < wanted + 1;
            });
            while (!all)
                all = order.advance(limit, [&](const TimeOrder::Packet &packet, const Event &event) {
                    found.emplace_back(event.ts, packet->cpu);
                    return true;
                });
            if (!found.empty()) {
                EXPECT_LT(found.back().first, limit);
            }
        }
        order.finish([&](const TimeOrder::Packet &packet, const Event &event) {
            found.emplace_back(event.ts, packet->cpu);
            return true;
        });
        std::stable_sort(expected.begin(), expected.end());
        EXPECT_EQ(found, expected) << "round " << round;
    }
}

} // namespace
} // namespace argtrace
