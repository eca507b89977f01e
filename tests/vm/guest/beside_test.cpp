// SPDX-License-Identifier: GPL-2.0-only
// Calls whose return is followed, of functions that somebody else traces or has go elsewhere: whoever comes first, and whoever ends
// first. The functions return what they should, each call is recorded or counted, and the others see as many as ever.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "device.h"
#include "kallsyms.h"
#include "machine.h"
#include "modules/neighbours.h"
#include "neighbours.h"

namespace vmtest {
namespace {

constexpr std::uint64_t neighbour_calls = 100;
constexpr std::uint32_t beside_packet_size = 64 << 10, beside_packets = 4;

struct FollowedFunction {
    const char *name;
    unsigned nr_args;
};
constexpr FollowedFunction followed_functions[] = {{"an_value", AN_VALUE_ARGS}, {"an_many", AN_MANY_ARGS}};

/// What has become of the calls of one function.
struct CallOutcomes {
    std::uint64_t records = 0, taken = 0;
};

/// Follows both functions.
class OurSession {
public:
    void begin() {
        device_ = std::make_unique<RawDevice>();
        ASSERT_EQ(device_->session("", beside_packet_size, beside_packets), 0);
        ASSERT_EQ(device_->reader(), 0);
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
            rings_.push_back(std::make_unique<RawRing>(*device_, cpu, beside_packet_size, beside_packets));
        std::vector<std::byte> probes;
        for (const FollowedFunction &one : followed_functions)
            probes = probes + RawProbe::call(address_of(one.name), one.nr_args, one.name).bytes();
        ASSERT_EQ(device_->add(probes, std::size(followed_functions)), 0);
        before_.assign(std::size(followed_functions), {});
    }
    void end() {
        rings_.clear();
        device_.reset();
    }

    /// What has become of them since this was last asked, of `neighbour_calls` calls of each.
    std::vector<CallOutcomes> take(bool diverted = false) {
        std::map<std::uint32_t, std::uint64_t> seen;
        for (const auto &ring : rings_) {
            for (const RawRecord &record : ring->records()) {
                seen[record.id]++;
                check(record, diverted);
            }
        }
        std::vector<CallOutcomes> outcomes;
        const auto counts = device_->return_counts();
        EXPECT_EQ(counts.size(), std::size(followed_functions));
        for (std::size_t i = 0; i < counts.size(); i++) {
            const argtrace_return_counts &now = counts[i], &before = before_[i];
            EXPECT_EQ(hits(now) - hits(before), neighbour_calls) << followed_functions[i].name;
            EXPECT_EQ(now.in_flight, 0u) << followed_functions[i].name;
            outcomes.push_back({now.counts.records - before.counts.records,
                                now.unfollowed[ARGTRACE_UNFOLLOWED_TAKEN] - before.unfollowed[ARGTRACE_UNFOLLOWED_TAKEN]});
            EXPECT_EQ(outcomes[i].records + outcomes[i].taken, neighbour_calls) << followed_functions[i].name;
            EXPECT_EQ(seen[now.counts.id], outcomes[i].records) << followed_functions[i].name;
        }
        before_ = counts;
        return outcomes;
    }

private:
    static std::uint64_t word(const RawRecord &record, std::size_t index) {
        std::uint64_t value = 0;
        if ((index + 1) * 8 > record.data.size()) {
            ADD_FAILURE() << "a record of " << record.size << " bytes";
            return 0;
        }
        memcpy(&value, &record.data[index * 8], 8);
        return value;
    }

    /// Caller, duration, arguments, and what has been returned.
    static void check(const RawRecord &record, bool diverted) {
        ASSERT_TRUE(record.id >= 1 && record.id <= std::size(followed_functions)) << record.id;
        const FollowedFunction &one = followed_functions[record.id - 1];
        const std::uint64_t c = (word(record, 2) - an_argument(0, 0)) / (an_argument(1, 0) - an_argument(0, 0));
        ASSERT_LT(c, neighbour_calls) << one.name;
        for (unsigned k = 0; k < one.nr_args; k++)
            EXPECT_EQ(word(record, 2 + k), an_argument(c, k)) << one.name << ", argument " << k;
        const std::uint64_t result = an_result(c, one.nr_args);
        EXPECT_EQ(word(record, 2 + one.nr_args), diverted && one.nr_args == AN_VALUE_ARGS ? ~result : result) << one.name;
    }

    std::unique_ptr<RawDevice> device_;
    std::vector<std::unique_ptr<RawRing>> rings_;
    std::vector<argtrace_return_counts> before_;
};

class Beside : public testing::TestWithParam<std::tuple<std::size_t, bool, bool>> {
protected:
    void SetUp() override {
        need_argtrace();
        need_neighbours();
        std::string why;
        theirs_ = kind().make(why);
        if (!theirs_)
            GTEST_SKIP() << why;
    }

    static const NeighbourKind &kind() { return neighbour_kinds()[std::get<0>(GetParam())]; }
    static bool they_are_first() { return std::get<1>(GetParam()); }
    static bool they_end_first() { return std::get<2>(GetParam()); }

    void expect_they_see_all() {
        for (const FollowedFunction &one : followed_functions) {
            if (one.nr_args != AN_VALUE_ARGS && !theirs_->has_many())
                continue;
            const long seen = theirs_->seen(one.name);
            if (seen >= 0) {
                EXPECT_EQ(seen, static_cast<long>(neighbour_calls)) << one.name;
            }
        }
    }
    static void expect_all(const std::vector<CallOutcomes> &outcomes) {
        for (std::size_t i = 0; i < outcomes.size(); i++)
            EXPECT_EQ(outcomes[i].records, neighbour_calls) << followed_functions[i].name;
    }
    void expect_shared() {
        const auto outcomes = ours_.take(theirs_->diverts());
        const bool followed = theirs_->lets_us_follow() || !they_are_first();
        if (!theirs_->diverts()) {
            EXPECT_EQ(outcomes.at(0).records, followed ? neighbour_calls : 0);
        }
        EXPECT_EQ(outcomes.at(1).records, followed || !theirs_->has_many() ? neighbour_calls : 0);
    }

    std::unique_ptr<Neighbour> theirs_;
    OurSession ours_;
};

TEST_P(Beside, each_sees_its_calls) {
    if (they_are_first()) {
        theirs_->begin();
        call_neighbours(neighbour_calls);
        expect_they_see_all();
        ours_.begin();
    } else {
        ours_.begin();
        call_neighbours(neighbour_calls);
        expect_all(ours_.take());
        theirs_->begin();
    }
    call_neighbours(neighbour_calls);
    expect_they_see_all();
    expect_shared();

    if (they_end_first()) {
        theirs_->end();
        call_neighbours(neighbour_calls);
        expect_all(ours_.take());
        ours_.end();
    } else {
        ours_.end();
        call_neighbours(neighbour_calls);
        expect_they_see_all();
        theirs_->end();
    }
    call_neighbours(neighbour_calls);
    EXPECT_FALSE(is_armed("an_value"));
    EXPECT_FALSE(is_armed("an_many"));
}

std::string name_of(const testing::TestParamInfo<Beside::ParamType> &info) {
    return std::string(neighbour_kinds()[std::get<0>(info.param)].name) + (std::get<1>(info.param) ? "_first" : "_second") +
           (std::get<2>(info.param) ? "_and_ends_first" : "_and_ends_last");
}

INSTANTIATE_TEST_SUITE_P(Others, Beside,
                         testing::Combine(testing::Range(std::size_t{0}, neighbour_kinds().size()), testing::Bool(), testing::Bool()),
                         name_of);

} // namespace
} // namespace vmtest
