// SPDX-License-Identifier: GPL-2.0-only
#include "support/followed_neighbours.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "modules/neighbours.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

constexpr std::uint32_t followed_packet_size = 64 << 10, followed_packets = 4;

std::uint64_t word_at(const RawRecord &record, std::size_t index) {
    std::uint64_t value = 0;
    if ((index + 1) * 8 > record.data.size())
        ADD_FAILURE() << "a record of " << record.size << " bytes";
    else
        memcpy(&value, &record.data[index * 8], 8);
    return value;
}

} // namespace

FollowedNeighbours::FollowedNeighbours(std::uint32_t by)
    : by_(by), functions_{{"an_value", AN_VALUE_ARGS}, {"an_many", AN_MANY_ARGS}} {
    if (by)
        functions_.push_back({"an_variadic", argument_registers, true});
}

void FollowedNeighbours::begin() {
    device_ = std::make_unique<RawDevice>();
    ASSERT_EQ(device_->session("", followed_packet_size, followed_packets), 0);
    ASSERT_EQ(device_->reader(), 0);
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        rings_.push_back(std::make_unique<RawRing>(*device_, cpu, followed_packet_size, followed_packets));
    std::vector<std::byte> probes;
    for (const FollowedFunction &one : functions_) {
        RawProbe probe = RawProbe::call(address_of(one.name), one.nr_args, one.name);
        probe.header.flags |= by_;
        probes = probes + probe.bytes();
    }
    ASSERT_EQ(device_->add(probes, static_cast<std::uint32_t>(functions_.size())), 0);
    before_.assign(functions_.size(), {});
}

void FollowedNeighbours::end() {
    rings_.clear();
    device_.reset();
}

std::vector<CallOutcomes> FollowedNeighbours::take(bool diverted) {
    const auto counts = device_->return_counts();
    EXPECT_EQ(counts.size(), functions_.size());
    std::map<std::uint32_t, std::size_t> index;
    for (std::size_t i = 0; i < counts.size(); i++)
        index[counts[i].counts.id] = i;
    std::map<std::size_t, std::uint64_t> seen;
    for (const auto &ring : rings_) {
        for (const RawRecord &record : ring->records()) {
            const std::size_t i = index.at(record.id);
            seen[i]++;
            check(record, functions_[i], diverted);
        }
    }
    std::vector<CallOutcomes> outcomes;
    for (std::size_t i = 0; i < counts.size(); i++) {
        const argtrace_return_counts &now = counts[i], &before = before_[i];
        EXPECT_EQ(hits(now) - hits(before), neighbour_calls) << functions_[i].name;
        EXPECT_EQ(now.in_flight, 0u) << functions_[i].name;
        outcomes.push_back({now.counts.records - before.counts.records,
                            now.unfollowed[ARGTRACE_UNFOLLOWED_TAKEN] - before.unfollowed[ARGTRACE_UNFOLLOWED_TAKEN]});
        EXPECT_EQ(outcomes[i].records + outcomes[i].taken, neighbour_calls) << functions_[i].name;
        EXPECT_EQ(seen[i], outcomes[i].records) << functions_[i].name;
    }
    before_ = counts;
    return outcomes;
}

/// Caller, duration, arguments, and what has been returned.
void FollowedNeighbours::check(const RawRecord &record, const FollowedFunction &function, bool diverted) const {
    // The variadic function is given their number first.
    const unsigned first = function.variadic;
    if (first) {
        EXPECT_EQ(word_at(record, 2), static_cast<std::uint64_t>(AN_MANY_ARGS));
    }
    const std::uint64_t c = (word_at(record, 2 + first) - an_argument(0, 0)) / (an_argument(1, 0) - an_argument(0, 0));
    ASSERT_LT(c, neighbour_calls) << function.name;
    for (unsigned k = first; k < function.nr_args; k++)
        EXPECT_EQ(word_at(record, 2 + k), an_argument(c, k - first)) << function.name << ", argument " << k;
    const std::uint64_t result = an_result(c, function.variadic ? AN_MANY_ARGS : function.nr_args);
    EXPECT_EQ(word_at(record, 2 + function.nr_args), diverted && function.nr_args == AN_VALUE_ARGS ? ~result : result)
        << function.name;
}

} // namespace vmtest
