// SPDX-License-Identifier: GPL-2.0-only
#include "render/waits.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "support/thrown.h"

namespace argtrace {
namespace {

/// A function at each multiple of 0x100. The stack 1 is where tasks wait, 20 where they are woken.
class WaitSymbols : public Symbols {
public:
    std::optional<Symbol> find(CodePlace place) const override {
        const std::uint64_t addr = place.address;
        static constexpr Symbol symbols[] = {{0x0, "zero", "", 0},
                                             {0x100, "schedule", "", 0},
                                             {0x200, "pipe_read", "", 0},
                                             {0x300, "wake_up", "", 0},
                                             {0x400, "pipe_write", "", 0}};
        return symbols[addr / 0x100];
    }
    std::optional<Stack> stack(std::uint64_t id, StackRoom & /*room*/) const override {
        if (id == 1)
            return Stack{sleeper_, false};
        return id == 20 ? std::optional(Stack{waker_, false}) : std::nullopt;
    }

private:
    std::vector<std::uint64_t> sleeper_{0x110, 0x220}, waker_{0x310, 0x420};
};

Comm comm_of(std::string_view name) {
    Comm comm{};
    std::copy(name.begin(), name.end(), comm.begin());
    return comm;
}

Wait wait_of(std::string_view name, char state, std::uint64_t blocked, std::uint64_t runnable, std::uint64_t stack = 1) {
    Wait wait;
    wait.task = {3, 2, comm_of(name)};
    wait.woken = blocked;
    wait.end = blocked + runnable;
    wait.state = state;
    wait.stack = stack;
    wait.was_woken = blocked > 0;
    wait.waker = {{4, 4, comm_of("writer")}, 20, 0};
    return wait;
}

class RenderWaits : public testing::Test {
protected:
    std::string shown(const WaitTotals &totals, const WaitStyle &style = {}) {
        std::string out;
        append_waits(out, totals, keys, style);
        return out;
    }

    WaitTotals with_wakers() {
        WaitTotals totals({.keys = {WaitKey::comm}, .wakers = true});
        totals.add(wait_of("dd", 'S', 3000, 1000));
        return totals;
    }

    WaitSymbols symbols;
    CallerNames names{symbols};
    KeyText keys{names};
};

TEST_F(RenderWaits, StacksAndStates) {
    WaitTotals totals({.keys = {WaitKey::comm, WaitKey::state}});
    totals.add(wait_of("dd", 'S', 3000, 1000));
    totals.add(wait_of("dd", 'S', 1000, 0));
    totals.add(wait_of("cat", 'R', 0, 5000));
    EXPECT_EQ(shown(totals),
              "        schedule+0x10\n"
              "        pipe_read+0x20\n"
              "    1 wait: 0ns blocked, 5.00us runnable (50.0 %), longest 5.00us, comm=cat, state=R\n"
              "\n"
              "        schedule+0x10\n"
              "        pipe_read+0x20\n"
              "    2 waits: 4.00us blocked, 1.00us runnable (50.0 %), longest 4.00us, comm=dd, state=S\n"
              "\n"
              "\n"
              "STATE      WAITS BLOCKED RUNNABLE LONGEST    %\n"
              "R runnable     1     0ns   5.00us  5.00us 50.0\n"
              "S sleeping     2  4.00us   1.00us  4.00us 50.0\n");
}

TEST_F(RenderWaits, TablesInTheirOrder) {
    WaitTotals totals({.keys = {WaitKey::tid, WaitKey::comm}, .stacks = false});
    totals.add(wait_of("long", 'S', 5000, 0));
    totals.add(wait_of("busy", 'R', 0, 2000));
    totals.add(wait_of("busy", 'R', 0, 1000));
    const std::string states = "\nSTATE      WAITS BLOCKED RUNNABLE LONGEST    %\n"
                               "R runnable     2     0ns   3.00us  2.00us 37.5\n"
                               "S sleeping     1  5.00us      0ns  5.00us 62.5\n";
    EXPECT_EQ(shown(totals), "TID COMM WAITS BLOCKED RUNNABLE LONGEST    %\n"
                             "  3 long     1  5.00us      0ns  5.00us 62.5\n"
                             "  3 busy     2     0ns   3.00us  2.00us 37.5\n" +
                                 states);
    EXPECT_EQ(shown(totals, {.order = WaitOrder::runnable, .top = 1}),
              "TID COMM WAITS BLOCKED RUNNABLE LONGEST    %\n"
              "  3 busy     2     0ns   3.00us  2.00us 37.5\n"
              "... and 1 more\n" +
                  states);
    EXPECT_EQ(parse_wait_order("longest"), WaitOrder::longest);
    EXPECT_EQ(thrown([] { parse_wait_order("wait"); }),
              "--sort takes total, blocked, runnable, count, longest, not 'wait'");
}

TEST_F(RenderWaits, WakersStandUnderTheStack) {
    const std::string text = shown(with_wakers());
    EXPECT_EQ(text.substr(0, text.find(',')), "        schedule+0x10\n"
                                              "        pipe_read+0x20\n"
                                              "      woken by writer:\n"
                                              "        wake_up+0x10\n"
                                              "        pipe_write+0x20\n"
                                              "    1 wait: 3.00us blocked");
}

TEST_F(RenderWaits, FoldedLinesHaveTheTimeRunnableApart) {
    EXPECT_EQ(shown(with_wakers(), {.form = StackForm::folded}),
              "dd;pipe_read;schedule;[runnable] 1000\n"
              "dd;pipe_read;schedule;--;wake_up;pipe_write;writer 3000\n");
    WaitTotals fresh({.keys = {WaitKey::comm}});
    Wait wait = wait_of("sh", 'R', 0, 70, 0);
    wait.is_new = true;
    fresh.add(wait);
    EXPECT_EQ(shown(fresh, {.form = StackForm::folded}), "sh;[new task];[runnable] 70\n");
}

TEST_F(RenderWaits, AFlameGraphIsOfTime) {
    const std::string svg = shown(with_wakers(), {.form = StackForm::svg});
    EXPECT_NE(svg.find("<svg"), svg.npos);
    EXPECT_NE(svg.find("data-name=\"[runnable]\""), svg.npos);
    EXPECT_NE(svg.find("schedule: 4 us (100.00%)"), svg.npos);
}

TEST_F(RenderWaits, Json) {
    std::string out;
    append_waits_json(out, with_wakers(), keys, {}, "\"ts\":5");
    EXPECT_EQ(out, "{\"ts\":5,\"key\":{\"comm\":\"dd\"},\"waits\":1,\"blocked\":3000,\"runnable\":1000,\"longest\":4000,"
                   "\"stack\":[\"schedule+0x10\",\"pipe_read+0x20\"],"
                   "\"waker\":{\"comm\":\"writer\",\"stack\":[\"wake_up+0x10\",\"pipe_write+0x20\"]}}\n");
}

TEST_F(RenderWaits, WhatIsNotInItIsSaid) {
    WaitTotal all;
    all.waits = 1;
    all.blocked = 1000;
    EXPECT_EQ(waits_summary(all, {}), "1 wait: 1.00us blocked, 0ns runnable");
    WaitsAside aside;
    aside.left_out = {1, 2, 3};
    aside.waiting = {1, 5000};
    aside.unwanted = 1;
    EXPECT_EQ(waits_summary(all, aside),
              "1 wait: 1.00us blocked, 0ns runnable\n"
              "1 more wait was of another length or in another state than asked for\n"
              "1 task was still waiting at the end, for 5.00us so far, which is not in it\n"
              "1 wait had begun before tracing did, and is not in it\n"
              "2 waits are left out because records were lost meanwhile\n"
              "3 waits are left out because a record of them is missing");
    std::string out;
    append_waits_summary_json(out, all, aside);
    EXPECT_EQ(out, "{\"waits\":1,\"blocked\":1000,\"runnable\":0,\"longest\":0,\"unwanted\":1,"
                   "\"waiting\":{\"tasks\":1,\"time\":5000},\"left_out\":{\"earlier\":1,\"lost\":2,\"incomplete\":3}}\n");
}

} // namespace
} // namespace argtrace
