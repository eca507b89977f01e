// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/waits.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "analyze/sched_events.h"
#include "analyze/wait_totals.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

constexpr std::uint64_t sleeping = 1, uninterruptible = 2, idle = 0x402, dead = 0x80;

Task task(std::uint32_t tid, std::uint32_t tgid, std::string_view name = "t") {
    Task one{tid, tgid, {}};
    std::copy(name.begin(), name.end(), one.comm.begin());
    return one;
}

class WaitTrackerTest : public testing::Test {
protected:
    /// From one thread to another; each is a process of its own unless `tgids` says otherwise.
    void change(std::uint64_t ts, std::uint32_t from, std::uint64_t state, std::uint32_t to, bool runnable = false) {
        tracker.switched({ts, 1, task(from, from), state, runnable || state == 0, 7, to, to});
    }
    void wake(std::uint64_t ts, std::uint32_t tid, std::uint32_t by = 99) {
        tracker.waking(ts, tid, tid, {task(by, by, "waker"), 8, 0});
    }

    std::vector<Wait> waits;
    WaitTracker tracker{[this](const Wait &wait) { waits.push_back(wait); }};
};

TEST(TaskState, IsTheLetterOfTheKernel) {
    EXPECT_EQ(task_state_letter(0), 'R');
    EXPECT_EQ(task_state_letter(sleeping), 'S');
    EXPECT_EQ(task_state_letter(uninterruptible), 'D');
    EXPECT_EQ(task_state_letter(0x4), 'T');
    EXPECT_EQ(task_state_letter(0x104), 'T') << "TASK_STOPPED wakes on a fatal signal";
    EXPECT_EQ(task_state_letter(0x8), 't');
    EXPECT_EQ(task_state_letter(0x40), 'P');
    EXPECT_EQ(task_state_letter(idle), 'I');
    EXPECT_EQ(task_state_letter(0x102), 'D') << "TASK_KILLABLE";
    EXPECT_EQ(task_state_letter(0x2001), 'S') << "TASK_FREEZABLE";
    EXPECT_EQ(task_state_letter(0x8000), 'D') << "TASK_FROZEN";
    EXPECT_EQ(task_state_letter(0x1000), 'D') << "TASK_RTLOCK_WAIT";
    EXPECT_EQ(task_state_letter(dead), 'X');
}

TEST_F(WaitTrackerTest, IsBlockedUntilItIsWokenAndThenRunnable) {
    change(100, 5, sleeping, 0);
    wake(150, 5);
    tracker.woken(5, 5);
    change(170, 0, 0, 5);
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0].blocked(), 50u);
    EXPECT_EQ(waits[0].runnable(), 20u);
    EXPECT_EQ(waits[0].state, 'S');
    EXPECT_EQ(waits[0].stack, 7u);
    EXPECT_EQ(waits[0].cpu, 1u);
    ASSERT_TRUE(waits[0].was_woken);
    EXPECT_EQ(waits[0].waker.task.tid, 99u);
    EXPECT_EQ(waits[0].waker.stack, 8u);
}

TEST_F(WaitTrackerTest, APreemptedTaskIsRunnableWhateverItsState) {
    change(100, 5, sleeping, 6, true);
    wake(120, 5); // it is not asleep, which changes nothing
    tracker.woken(5, 5);
    change(130, 6, 0, 5);
    change(160, 5, sleeping, 6);
    ASSERT_EQ(waits.size(), 2u);
    EXPECT_EQ(waits[0].state, 'R');
    EXPECT_EQ(waits[0].blocked(), 0u);
    EXPECT_EQ(waits[0].runnable(), 30u);
    EXPECT_EQ(waits[1].task.tid, 6u);
    EXPECT_EQ(waits[1].runnable(), 30u);
}

TEST_F(WaitTrackerTest, TheWakerMayBeginBeforeTheTaskHasLeft) {
    wake(90, 5);
    change(100, 5, sleeping, 0);
    tracker.woken(5, 5);
    change(130, 0, 0, 5);
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0].blocked(), 0u);
    EXPECT_EQ(waits[0].runnable(), 30u);
    EXPECT_TRUE(waits[0].was_woken);
}

TEST_F(WaitTrackerTest, ANewTaskIsRunnable) {
    tracker.begun(100, 0, task(5, 5, "new"), {task(4, 4), 9, 0});
    change(140, 0, 0, 5);
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_TRUE(waits[0].is_new);
    EXPECT_EQ(waits[0].runnable(), 40u);
    EXPECT_EQ(waits[0].blocked(), 0u);
}

TEST_F(WaitTrackerTest, NeitherTheIdleTaskNorAnEndIsAWait) {
    change(100, 0, 0, 5);
    change(200, 5, dead, 0);
    change(300, 0, 0, 6);
    EXPECT_TRUE(waits.empty());
    EXPECT_EQ(tracker.waiting(400).tasks, 0u);
}

TEST_F(WaitTrackerTest, WhatHasBegunBeforeOrGoesOnIsCountedApart) {
    wake(80, 5);
    tracker.woken(5, 5);
    change(100, 0, 0, 5);
    EXPECT_EQ(tracker.left_out().earlier, 1u);
    change(200, 5, sleeping, 0);
    EXPECT_TRUE(waits.empty());
    EXPECT_EQ(tracker.waiting(260).tasks, 1u);
    EXPECT_EQ(tracker.waiting(260).time, 60u);
    EXPECT_EQ(tracker.left_out().incomplete, 0u);
}

TEST_F(WaitTrackerTest, AMissingRecordMakesNoWait) {
    change(100, 5, sleeping, 0);
    change(170, 0, 0, 5); // nobody woke it
    EXPECT_EQ(tracker.left_out().incomplete, 1u);
    change(200, 5, sleeping, 0);
    tracker.woken(5, 5); // nobody began to
    change(270, 0, 0, 5);
    EXPECT_EQ(tracker.left_out().incomplete, 2u);
    change(300, 5, sleeping, 0);
    change(370, 5, sleeping, 0); // it has not come back
    EXPECT_EQ(tracker.left_out().incomplete, 3u);
    wake(380, 5);
    tracker.woken(5, 5);
    change(390, 0, 0, 5);
    EXPECT_EQ(waits.size(), 1u);
    change(400, 0, 0, 5); // it has not left
    EXPECT_EQ(tracker.left_out().incomplete, 4u);
}

TEST_F(WaitTrackerTest, AWaitDuringWhichRecordsWereLostIsNone) {
    change(100, 5, sleeping, 0);
    change(110, 6, sleeping, 0);
    wake(120, 6);
    tracker.woken(6, 6);
    change(130, 0, 0, 6); // over before that
    tracker.lost(150, 160);
    wake(200, 5);
    tracker.woken(5, 5);
    change(210, 0, 0, 5);
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0].task.tid, 6u);
    EXPECT_EQ(tracker.left_out().lost, 1u);
    change(220, 5, sleeping, 0); // begun after that
    wake(230, 5);
    tracker.woken(5, 5);
    change(240, 0, 0, 5);
    EXPECT_EQ(waits.size(), 2u);
    tracker.lost(300, 310);
    tracker.lost(305, 400);
    change(350, 5, sleeping, 0);
    EXPECT_EQ(tracker.waiting(500).tasks, 0u) << "it may be over";
}

TEST_F(WaitTrackerTest, OnlyTheProcessesThatAreWanted) {
    tracker.only({5}, false);
    change(100, 5, sleeping, 6);
    change(110, 6, sleeping, 0);
    wake(150, 5);
    tracker.woken(5, 5);
    wake(150, 6);
    tracker.woken(6, 6);
    change(170, 0, 0, 5);
    change(170, 0, 0, 6);
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0].task.tid, 5u);
    EXPECT_EQ(tracker.left_out().earlier, 0u);
}

TEST_F(WaitTrackerTest, FollowsTheProcessesThatTheyStart) {
    tracker.only({5}, true);
    tracker.forked(5, 6, 6);
    tracker.forked(6, 7, 7);
    tracker.forked(8, 9, 9);
    for (const std::uint32_t tid : {6u, 7u, 9u})
        tracker.begun(100, 0, task(tid, tid), {});
    for (const std::uint32_t tid : {6u, 7u, 9u})
        change(120, 0, 0, tid);
    EXPECT_EQ(waits.size(), 2u);
    tracker.forked(8, 7, 7); // another process has the number now
    tracker.begun(200, 0, task(7, 7), {});
    change(220, 0, 0, 7);
    EXPECT_EQ(waits.size(), 2u);
}

TEST_F(WaitTrackerTest, HidesItsOwn) {
    tracker.hide(5);
    change(100, 5, sleeping, 0);
    wake(150, 5);
    tracker.woken(5, 5);
    change(170, 0, 0, 5);
    EXPECT_TRUE(waits.empty());
    EXPECT_EQ(tracker.left_out().earlier, 0u);
}

Wait some_wait(std::string_view name, char state, std::uint64_t blocked, std::uint64_t runnable) {
    Wait wait;
    wait.task = task(3, 2, name);
    wait.begin = 1000;
    wait.woken = wait.begin + blocked;
    wait.end = wait.woken + runnable;
    wait.state = state;
    wait.stack = 7;
    return wait;
}

TEST(WaitTotals, AddUpByTheirKeys) {
    WaitTotals totals({.keys = {WaitKey::comm, WaitKey::state}});
    totals.add(some_wait("a", 'S', 100, 10));
    totals.add(some_wait("a", 'S', 50, 5));
    totals.add(some_wait("b", 'R', 0, 20));
    EXPECT_EQ(totals.entries().size(), 2u);
    EXPECT_EQ(totals.all().waits, 3u);
    EXPECT_EQ(totals.all().blocked, 150u);
    EXPECT_EQ(totals.all().runnable, 35u);
    EXPECT_EQ(totals.states().at('S').waits, 2u);
    EXPECT_EQ(totals.states().at('S').longest, 110u);
    EXPECT_EQ(totals.states().at('R').runnable, 20u);
    totals.clear();
    EXPECT_TRUE(totals.entries().empty());
    EXPECT_EQ(totals.all().waits, 0u);
}

TEST(WaitTotals, LeaveOutWhatIsNotWanted) {
    WaitTotals totals({.keys = {WaitKey::tid}, .min = 100, .max = 200, .states = "SD"});
    totals.add(some_wait("a", 'S', 99, 0));
    totals.add(some_wait("a", 'S', 90, 10));
    totals.add(some_wait("a", 'D', 200, 0));
    totals.add(some_wait("a", 'D', 200, 1));
    totals.add(some_wait("a", 'R', 0, 150));
    EXPECT_EQ(totals.all().waits, 2u);
    EXPECT_EQ(totals.unwanted(), 3u);
}

TEST(WaitTotals, KeysAndStatesAreRead) {
    EXPECT_EQ(parse_wait_keys("--by", "comm,state,tid"),
              (std::vector{WaitKey::comm, WaitKey::state, WaitKey::tid}));
    EXPECT_EQ(thrown([] { parse_wait_keys("--by", "comm,stat"); }),
              "--by takes comm, pid, tid, state, cpu, waker, not 'stat'");
    EXPECT_EQ(thrown([] { parse_wait_keys("--by", "comm,comm"); }), "--by: comm is there twice");
    EXPECT_EQ(parse_wait_states("--state", "D,S"), "DS");
    EXPECT_EQ(parse_wait_states("--state", "DSD"), "DS");
    EXPECT_EQ(thrown([] { parse_wait_states("--state", "Q"); }),
              "--state takes letters of RSDTtPI, as ps shows them, not 'Q'");
    EXPECT_EQ(thrown([] { parse_wait_states("--state", ","); }),
              "--state takes at least one letter of RSDTtPI");
}

TEST(SchedSpecs, AskForNoMoreThanIsWanted) {
    SchedSpecs specs;
    EXPECT_EQ(specs.text().size(), 4u);
    EXPECT_EQ(specs.text()[0],
              "t:sched:sched_switch(preempt, prev_state, prev->__state, next->pid, next->tgid, stack)");
    EXPECT_EQ(specs.text()[1], "t:sched:sched_waking(p->pid, p->tgid)");
    specs.user_stacks = true;
    EXPECT_EQ(specs.text()[0],
              "t:sched:sched_switch(preempt, prev_state, prev->__state, next->pid, next->tgid, stack, ustack)");
    specs.stacks = false;
    EXPECT_EQ(specs.text()[0], "t:sched:sched_switch(preempt, prev_state, prev->__state, next->pid, next->tgid, ustack)");
    specs.user_stacks = false;
    specs.wakers = true;
    specs.forks = true;
    specs.pids = {12, 34};
    EXPECT_EQ(specs.text()[0],
              "t:sched:sched_switch(preempt, prev_state, prev->__state, next->pid, next->tgid) if prev->tgid == 12 || "
              "next->tgid == 12 || prev->tgid == 34 || next->tgid == 34");
    EXPECT_EQ(specs.text()[1], "t:sched:sched_waking(p->pid, p->tgid, stack) if p->tgid == 12 || p->tgid == 34");
    EXPECT_EQ(specs.text()[4], "t:sched:sched_process_fork(child->pid, child->tgid)");
    specs.pids.assign(100, 1);
    EXPECT_EQ(specs.text()[2], "t:sched:sched_wakeup(p->pid, p->tgid)");
}

Probe probe_of(const char *function, std::initializer_list<const char *> names) {
    Probe probe;
    probe.kind = ARGTRACE_KIND_TRACEPOINT;
    probe.function = function;
    for (const char *name : names) {
        Argument argument;
        argument.name = name;
        if (argument.name == "stack")
            argument.type = ARGTRACE_TYPE_STACK;
        probe.args.push_back(argument);
    }
    return probe;
}

TEST(SchedSpecs, SayWhatARecordingLacks) {
    const Probe change = probe_of("t:sched:sched_switch", {"preempt", "prev_state", "prev->__state", "next->pid", "next->tgid"});
    Probe with_stack = change;
    with_stack.args.push_back(probe_of("", {"stack"}).args[0]);
    const Probe waking = probe_of("t:sched:sched_waking", {"p->pid", "p->tgid"});
    const Probe wakeup = probe_of("t:sched:sched_wakeup", {"p->pid", "p->tgid"});
    const Probe begun = probe_of("t:sched:sched_wakeup_new", {"p->pid", "p->tgid", "p->comm"});
    const Probe nameless = probe_of("t:sched:sched_wakeup_new", {"p->pid", "p->tgid"});
    const Probe fork = probe_of("t:sched:sched_process_fork", {"child->pid", "child->tgid"});

    SchedSpecs specs;
    EXPECT_EQ(specs.missing_in({&with_stack, &waking, &wakeup, &begun}), "");
    EXPECT_EQ(specs.missing_in({&change, &waking, &wakeup, &begun}), "t:sched:sched_switch with the stack");
    EXPECT_EQ(specs.missing_in({&with_stack, &waking, &begun}), "t:sched:sched_wakeup");
    specs.user_stacks = true;
    EXPECT_EQ(specs.missing_in({&with_stack, &waking, &wakeup, &begun}), "t:sched:sched_switch with the stack of user code");
    Probe with_both = with_stack;
    with_both.args.push_back(with_stack.args.back());
    with_both.args.back().name = with_both.args.back().type_name = user_stack_name;
    EXPECT_EQ(specs.missing_in({&with_both, &waking, &wakeup, &begun}), "");
    specs.user_stacks = false;
    EXPECT_EQ(specs.missing_in({&with_stack, &waking, &wakeup, &nameless}), "t:sched:sched_wakeup_new");
    specs.wakers = true;
    EXPECT_EQ(specs.missing_in({&with_stack, &waking, &wakeup, &begun}), "t:sched:sched_waking with the stack");
    specs = {.stacks = false, .wakers = false, .forks = true, .pids = {}};
    EXPECT_EQ(specs.missing_in({&change, &waking, &wakeup, &begun}), "t:sched:sched_process_fork");
    EXPECT_EQ(specs.missing_in({&change, &waking, &wakeup, &begun, &fork}), "");
}

/// A record of sched_switch, as the probe of SchedSpecs has it.
bool take_change(WaitTracker &tracker, std::uint64_t preempt, std::uint64_t prev_state, std::uint64_t state_now) {
    Probe probe;
    probe.kind = ARGTRACE_KIND_TRACEPOINT;
    probe.function = "t:sched:sched_switch";
    for (const char *name : {"preempt", "prev_state", "prev->__state", "next->pid", "next->tgid"}) {
        Argument argument;
        argument.name = name;
        probe.args.push_back(argument);
    }
    Event event;
    event.ts = 10;
    event.probe = &probe;
    event.tid = event.tgid = 5;
    std::vector<Value> values;
    for (const std::uint64_t value : {preempt, prev_state, state_now, std::uint64_t{0}, std::uint64_t{0}})
        values.push_back({value, 0, ARGTRACE_TYPE_U64, true});
    return SchedEvents(tracker).take({&event, values});
}

TEST(SchedEvents, ATaskWithAPendingSignalDoesNotBlock) {
    const auto state_of = [](std::uint64_t preempt, std::uint64_t prev_state, std::uint64_t state_now) {
        char state = 0;
        WaitTracker tracker([&state](const Wait &wait) { state = wait.state; });
        EXPECT_TRUE(take_change(tracker, preempt, prev_state, state_now));
        tracker.waking(20, 5, 5, {});
        tracker.woken(5, 5);
        tracker.switched({30, 0, task(0, 0), 0, false, 0, 5, 5});
        return state;
    };
    EXPECT_EQ(state_of(0, 1, 1), 'S');
    EXPECT_EQ(state_of(0, 1, 0x200), 'S') << "it is being woken already";
    EXPECT_EQ(state_of(0, 1, 0), 'R');
    EXPECT_EQ(state_of(1, 1, 1), 'R');
    EXPECT_EQ(state_of(0, 0, 0), 'R');
}

TEST(SchedEvents, OtherRecordsAreNotTaken) {
    WaitTracker tracker([](const Wait &) { FAIL(); });
    Probe probe;
    probe.kind = ARGTRACE_KIND_TRACEPOINT;
    probe.function = "t:sched:sched_switch";
    Event event;
    event.probe = &probe;
    EXPECT_FALSE(SchedEvents(tracker).take({&event, {}})) << "its values are missing";
    Probe other;
    other.function = "schedule";
    event.probe = &other;
    EXPECT_FALSE(SchedEvents(tracker).take({&event, {}}));
}

} // namespace
} // namespace argtrace
