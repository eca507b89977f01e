// SPDX-License-Identifier: GPL-2.0-only
// Calls whose return is followed, of functions that somebody else traces or has go elsewhere: whoever comes first, and whoever ends
// first. The functions return what they should, each call is recorded or counted, and the others see as many as ever.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "modules/neighbours.h"
#include "support/followed_neighbours.h"
#include "support/machine.h"
#include "support/neighbours.h"

namespace vmtest {
namespace {

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
        for (const FollowedFunction &one : ours_.functions()) {
            if (one.nr_args != AN_VALUE_ARGS && !theirs_->has_many())
                continue;
            const long seen = theirs_->seen(one.name);
            if (seen >= 0) {
                EXPECT_EQ(seen, static_cast<long>(neighbour_calls)) << one.name;
            }
        }
    }
    void expect_all(const std::vector<CallOutcomes> &outcomes) {
        for (std::size_t i = 0; i < outcomes.size(); i++)
            EXPECT_EQ(outcomes[i].records, neighbour_calls) << ours_.functions()[i].name;
    }
    void expect_shared() {
        const auto outcomes = ours_.take(theirs_->diverts());
        const bool followed = theirs_->lets_us_share() && (theirs_->lets_us_follow() || !they_are_first());
        if (!theirs_->diverts()) {
            EXPECT_EQ(outcomes.at(0).records, followed ? neighbour_calls : 0);
        }
        EXPECT_EQ(outcomes.at(1).records, followed || !theirs_->has_many() ? neighbour_calls : 0);
    }

    std::unique_ptr<Neighbour> theirs_;
    FollowedNeighbours ours_;
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
