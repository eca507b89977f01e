// SPDX-License-Identifier: GPL-2.0-only
// What the tool makes of user stacks that are completed after their calls were recorded or counted.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"
#include "support/user_stacks.h"

namespace vmtest {
namespace {

const std::string absent = "/root/user_stacks_absent";

class LateStacksShown : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        RawDevice device;
        if (!(device.info().features & ARGTRACE_FEATURE_USER_STACK))
            GTEST_SKIP() << "this kernel has no user stacks";
        ASSERT_EQ(device.session(), 0);
        if (!UserStacks(device).are_completed())
            GTEST_SKIP() << "this kernel does not tell of the way back to user mode";
    }

    static std::string output_of(const std::vector<std::string> &words) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome.out;
    }

    /// The stack of the call that is looked at, 21 frames of one function.
    static void expect_complete(const std::string &text) {
        std::string deep = "run;far_below";
        for (int i = 0; i <= 20; i++)
            deep += ";call";
        EXPECT_NE(text.find(deep), text.npos) << text;
        EXPECT_EQ(text.find("[... "), text.npos) << text;
    }
};

TEST_F(LateStacksShown, where_calls_are_counted) {
    expect_complete(output_of({"argtrace", "stacks", "--fold", "--stack=user", "s:nanosleep", "--", absent, "nap"}));
    const std::string counted = output_of({"argtrace", "count", "--json", "--by", "ustack", "s:nanosleep", "--", absent, "nap"});
    EXPECT_EQ(counted.find("[... "), counted.npos) << counted;
    EXPECT_NE(counted.find(R"("unreadable":0)"), counted.npos) << counted;
}

/// What is different from call to call belongs together when it is complete.
TEST_F(LateStacksShown, as_one_row) {
    const std::string text = output_of({"sh", "-c", "argtrace stacks --fold --stack=user s:prctl -- timeout -s KILL 3 " + absent + " storm || true"});
    std::size_t rows = 0;
    for (std::size_t at = text.find("run;far"); at != text.npos; at = text.find("run;far", at + 1))
        rows++;
    EXPECT_EQ(rows, 1u) << text;
}

/// The record is in the file for some time before its stack is complete.
TEST_F(LateStacksShown, where_calls_are_recorded) {
    const std::string file = "/tmp/late.dat";
    output_of({"argtrace", "record", "-o", file, "--stack=user", "s:nanosleep", "--", absent, "nap"});
    expect_complete(output_of({"argtrace", "stacks", "--in", file, "--fold", "--stack=user"}));
    run({"rm", "-f", file});
}

TEST_F(LateStacksShown, where_tasks_wait) {
    expect_complete(output_of({"argtrace", "offcpu", "--fold", "--stack=user", "--min", "400ms", "--", absent, "nap"}));
}

} // namespace
} // namespace vmtest
