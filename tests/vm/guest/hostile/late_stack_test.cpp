// SPDX-License-Identifier: GPL-2.0-only
// User stacks whose memory is absent, and what may come between the walk that finds that and the way back to user mode, on which they
// are completed: programs/user_stacks_absent.c. That they are right then is shown by UserStacksOf.
#include <gtest/gtest.h>

#include <signal.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/raw_map.h"
#include "support/user_stacks.h"

namespace vmtest {
namespace {

const std::string absent_program = "/root/user_stacks_absent";

/// A session that counts the calls of a function by their user stacks.
struct LateStackCounts {
    explicit LateStackCounts(const std::string &function, const std::string &name = "") {
        EXPECT_EQ(device.session(name), 0);
        stacks.emplace(device);
        if (stacks->are_completed()) {
            map.emplace(device, RawMap::counts(4096, 1));
            EXPECT_EQ(run({absent_program, "exec", "/bin/true"}).status, 0); // so that its object has a table
            stacks->provide_tables();
            SinkProgram sink(ARGTRACE_SINK_MAP, map->description().id);
            sink.source(ARGTRACE_SOURCE_USER_STACK_ID);
            EXPECT_EQ(device.add(sink.probe(address_of(function)).bytes(), 1), 0);
        }
    }

    std::uint64_t calls() const {
        std::uint64_t sum = 0;
        for (const auto &[key, one] : map->read())
            sum += one.count;
        return sum;
    }

    /// The stacks that may still be completed.
    unsigned pending() const {
        unsigned count = 0;
        for (const auto &[key, one] : map->read()) {
            bool is_pending = false;
            EXPECT_TRUE(stacks->find(key[0], &is_pending));
            count += is_pending;
        }
        return count;
    }

    std::uint64_t unreadable() const { return stacks->incomplete()[ARGTRACE_END_UNREADABLE]; }

    RawDevice device;
    std::optional<UserStacks> stacks;
    std::optional<RawMap> map;
};

class LateStacks : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        if (!(RawDevice().info().features & ARGTRACE_FEATURE_USER_STACK))
            GTEST_SKIP() << "this kernel has no user stacks";
    }
};

#define NEED_COMPLETION(counts) \
    if (!(counts).stacks->are_completed()) \
    GTEST_SKIP() << "this kernel does not tell of the way back to user mode"

constexpr unsigned many = 30;

/// They have a slot each for as long as they sleep, and give it up when they end.
TEST_F(LateStacks, of_tasks_that_are_killed_meanwhile) {
    const LateStackCounts stacks(SYSCALL_PREFIX "rt_sigsuspend");
    NEED_COMPLETION(stacks);
    std::vector<std::unique_ptr<Background>> sleepers;
    for (unsigned i = 0; i < many; i++)
        sleepers.push_back(std::make_unique<Background>(std::vector<std::string>{absent_program, "sleep"}));
    ASSERT_TRUE(eventually([&] { return stacks.calls() == many; })) << stacks.calls();
    EXPECT_EQ(stacks.unreadable(), many);
    EXPECT_GE(stacks.pending(), many / 2); // the others have found no slot near their own
    for (auto &one : sleepers)
        EXPECT_EQ(one->end(SIGKILL).status, 128 + SIGKILL);
    EXPECT_TRUE(eventually([&] { return stacks.pending() == 0; }));
    EXPECT_EQ(stacks.unreadable(), many);
    EXPECT_EQ(stacks.stacks->completed(), 0u);
}

/// On the way back the task has another stack, that of the handler.
TEST_F(LateStacks, of_tasks_that_get_a_signal_meanwhile) {
    const LateStackCounts stacks(SYSCALL_PREFIX "rt_sigsuspend");
    NEED_COMPLETION(stacks);
    EXPECT_EQ(run({absent_program, "signal"}).status, 0);
    EXPECT_EQ(stacks.calls(), 1u);
    EXPECT_EQ(stacks.pending(), 0u);
    EXPECT_EQ(stacks.unreadable(), 1u);
    EXPECT_EQ(stacks.stacks->completed(), 0u);
}

/// On the way back it is another program.
TEST_F(LateStacks, of_tasks_that_execute_a_program) {
    const LateStackCounts stacks(SYSCALL_PREFIX "execve");
    NEED_COMPLETION(stacks);
    for (unsigned i = 0; i < many; i++)
        EXPECT_EQ(run({absent_program, "exec", "/bin/true"}).status, 0);
    EXPECT_EQ(stacks.unreadable(), many);
    EXPECT_EQ(stacks.pending(), 0u);
    EXPECT_EQ(stacks.stacks->completed(), 0u);
    EXPECT_EQ(run({absent_program, "exec", "/nowhere"}).status, 0);
    EXPECT_EQ(stacks.unreadable(), many);
    EXPECT_EQ(stacks.stacks->completed(), 1u) << "that one has come back";
}

/// Nobody answers the userfaultfd: nothing may wait for it.
TEST_F(LateStacks, whose_memory_a_process_has_to_provide) {
    const LateStackCounts stacks(SYSCALL_PREFIX "prctl");
    NEED_COMPLETION(stacks);
    const Outcome outcome = run({"timeout", "-s", "KILL", "60", absent_program, "armed"});
    if (outcome.status == 3)
        GTEST_SKIP() << "this kernel has no userfaultfd: " << outcome.err;
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(stacks.pending(), 0u);
    EXPECT_EQ(stacks.unreadable(), 1u);
}

/// Slots are in use when the session goes.
TEST_F(LateStacks, of_sessions_that_come_and_go) {
    const Background storm({absent_program, "storm"}), sleeper({absent_program, "sleep"});
    std::uint64_t completed = 0;
    for (std::uint64_t round = rounds_until_they_meet(2, 4, 10); round; round--) {
        const LateStackCounts stacks(SYSCALL_PREFIX "prctl");
        NEED_COMPLETION(stacks);
        EXPECT_TRUE(eventually([&] { return stacks.stacks->completed() > 20; }));
        completed += stacks.stacks->completed();
        // Read in this order, as both grow.
        const std::uint64_t unreadable = stacks.unreadable();
        EXPECT_LE(unreadable, stacks.calls());
    }
    std::cout << "  " << completed << " stacks completed\n";
}

/// Two sessions complete the same calls, each for itself.
TEST_F(LateStacks, of_two_sessions) {
    const LateStackCounts one(SYSCALL_PREFIX "prctl");
    NEED_COMPLETION(one);
    const LateStackCounts other(SYSCALL_PREFIX "prctl");
    Background storm({absent_program, "storm"});
    EXPECT_TRUE(eventually([&] { return one.stacks->completed() > 100 && other.stacks->completed() > 100; }));
    storm.end(SIGKILL);
    EXPECT_EQ(one.calls(), other.calls());
}

/// The module goes while tasks sleep for whom a stack is to be completed, and others do so all the time.
TEST_F(LateStacks, of_a_module_that_is_unloaded) {
    for (std::uint64_t round = rounds_until_they_meet(1, 3, 5); round; round--) {
        need_argtrace();
        std::vector<std::unique_ptr<Background>> sleepers;
        const Background storm({absent_program, "storm"});
        {
            const LateStackCounts sleeping(SYSCALL_PREFIX "rt_sigsuspend", "sleeping"), running(SYSCALL_PREFIX "prctl", "running");
            NEED_COMPLETION(sleeping);
            for (unsigned i = 0; i < 5; i++)
                sleepers.push_back(std::make_unique<Background>(std::vector<std::string>{absent_program, "sleep"}));
            ASSERT_TRUE(eventually([&] { return sleeping.pending() >= 3 && running.stacks->completed() > 50; }));
        }
        unload_argtrace();
        EXPECT_FALSE(module_is_loaded("argtrace"));
        for (auto &sleeper : sleepers)
            EXPECT_TRUE(sleeper->is_running());
    }
    need_argtrace();
}

} // namespace
} // namespace vmtest
