// SPDX-License-Identifier: GPL-2.0-only
#include "render/tree.h"

#include <cstring>
#include <deque>
#include <sstream>
#include <string>

#include <gmock/gmock.h>

#include "report/symbol_table.h"
#include "support/packet_builder.h"
#include "support/some_stack.h"

namespace argtrace {
namespace {

using test::argument;

class TreeTest : public testing::Test {
protected:
    const Probe &probe(const char *function, bool result = true) {
        Probe probe;
        probe.function = function;
        probe.flags = ARGTRACE_PROBE_RETURN;
        probe.args = {argument("count", ARGTRACE_TYPE_U64)};
        if (result) {
            probe.args.push_back(argument("ret", ARGTRACE_TYPE_S32));
            probe.args.back().loc = ARGTRACE_LOC_RETURN;
        }
        probes.push_back(std::move(probe));
        return probes.back();
    }

    void call(const Probe &probe, std::uint64_t begin, std::uint64_t duration, std::uint64_t result,
              std::uint8_t context = 0, bool left = false) {
        Event event;
        event.left = left;
        event.ts = begin;
        event.duration = duration;
        event.probe = &probe;
        event.tid = 145;
        event.cpu = 1;
        event.context = context;
        event.clock = begin + duration;
        std::memcpy(event.comm.data(), "dd", 2);
        std::vector<Value> values{{7, 0, ARGTRACE_TYPE_U64, true}};
        if (has_result(probe))
            values.push_back({result, 0, ARGTRACE_TYPE_S32, !left});
        renderer.event(out, {&event, values});
    }

    /// A call that began then and has not returned, for the next tell().
    void runs(const Probe &probe, std::uint64_t begin, std::uint32_t tid = 145) {
        Event event;
        event.ts = begin;
        event.clock = begin;
        event.probe = &probe;
        event.tid = tid;
        std::memcpy(event.comm.data(), "dd", 2);
        event.first_value = static_cast<std::uint32_t>(running.batch.values.size());
        running.batch.values.push_back({7, 0, ARGTRACE_TYPE_U64, true});
        if (has_result(probe))
            running.batch.values.push_back({});
        running.batch.events.push_back(event);
    }

    void tell(std::uint64_t now, bool last = false) {
        running.clock = running.ns = now;
        renderer.still_running(out, running, last);
        running = {};
    }

    /// Without what stands before the duration.
    std::string calls() {
        std::string text;
        std::istringstream lines(out);
        for (std::string line; std::getline(lines, line);)
            text += line.substr(0, 4) == "TIME" ? "" : line.substr(48) + '\n';
        out.clear();
        return text;
    }

    std::deque<Probe> probes;
    RunningCalls running;
    SymbolTable symbols;
    CallerNames callers{symbols};
    TreeRenderer renderer{callers, true, {}, 1000000};
    std::string out;
};

TEST_F(TreeTest, ShowsWhatWasCalledInWhat) {
    renderer.begin(out, 5000000000);
    const Probe &outer = probe("vfs_read");
    const Probe &inner = probe("rw_verify_area", false);
    call(inner, 5000000100, 311, 0, ARGTRACE_CTX_HARDIRQ);
    call(outer, 5000000000, 1834, static_cast<std::uint64_t>(-2));
    EXPECT_TRUE(renderer.waiting());
    renderer.end(out);
    EXPECT_FALSE(renderer.waiting());
    EXPECT_EQ(out,
              "TIME            COMM            TID  CPU FLAGS  DURATION  FUNCTION\n"
              "5.000000000     dd              145  1   ....             vfs_read(count=7) {\n"
              "5.000000100     dd              145  1   ..h.      311ns    rw_verify_area(count=7)\n"
              "5.000001834     dd              145  1   ....     1.83us  } = -ENOENT\n");
}

TEST_F(TreeTest, ShowsWhichCallsWereLeft) {
    const Probe &outer = probe("main");
    const Probe &inner = probe("run", false);
    call(inner, 5000000100, 1500, 0, 0, true);
    call(outer, 5000000000, 1834, 0, 0, true);
    renderer.end(out);
    EXPECT_EQ(out, "5.000000000     dd              145  1   ....             main(count=7) {\n"
                   "5.000000100     dd              145  1   ....       left    run(count=7)\n"
                   "5.000001834     dd              145  1   ....       left  } = ?\n");
}

TEST_F(TreeTest, ShowsTheStacksOfCallsThatHaveOne) {
    test::SomeStack functions;
    CallerNames names{functions};
    TreeRenderer tree(names, false, {}, 1000000);
    const Probe &outer = probe("vfs_read");
    probe("rw_verify_area");
    Probe &inner = probes.back();
    inner.args.insert(inner.args.begin() + 1, argument("stack", ARGTRACE_TYPE_STACK));
    const auto show = [&](const Probe &called, std::uint64_t begin, std::uint64_t duration, std::vector<Value> values) {
        Event event;
        event.ts = begin;
        event.duration = duration;
        event.clock = begin + duration;
        event.probe = &called;
        event.tid = 145;
        event.cpu = 1;
        std::memcpy(event.comm.data(), "dd", 2);
        tree.event(out, {&event, values});
    };
    const Value count{7, 0, ARGTRACE_TYPE_U64, true}, result{0, 0, ARGTRACE_TYPE_S32, true};
    const Value stack{test::SomeStack::id, 0, ARGTRACE_TYPE_STACK, true};
    show(inner, 5000000100, 311, {count, stack, result});
    show(outer, 5000000000, 1834, {count, result});
    tree.end(out);
    EXPECT_EQ(out, "5.000000000     dd              145  1   ....             vfs_read(count=7) {\n"
                   "5.000000100     dd              145  1   ....      311ns    rw_verify_area(count=7) = 0\n"
                   "        ext4_read+0x10 [ext4]\n"
                   "        ksys_read+0x20\n"
                   "5.000001834     dd              145  1   ....     1.83us  } = 0\n");
    // One around others has its stack below the line that it begins with.
    out.clear();
    show(outer, 6000000100, 311, {count, result});
    show(inner, 6000000000, 1834, {count, stack, result});
    tree.end(out);
    EXPECT_THAT(out, testing::HasSubstr("rw_verify_area(count=7) {\n"
                                        "        ext4_read+0x10 [ext4]\n"
                                        "        ksys_read+0x20\n"
                                        "6.000000100 "));
}

TEST_F(TreeTest, WaitsForTheCallAround) {
    const Probe &one = probe("f");
    call(one, 5000000000, 1000, 0);
    EXPECT_EQ(out, "");
    renderer.advance(out, 5000500000);
    EXPECT_EQ(out, "") << "half of --max-wait";
    renderer.advance(out, 5002000000);
    EXPECT_THAT(out, testing::EndsWith("f(count=7) = 0\n"));
    EXPECT_FALSE(renderer.waiting());
    out.clear();
    // Events themselves tell the time, too.
    call(one, 6000000000, 1000, 0);
    call(one, 7000000000, 1000, 0);
    EXPECT_THAT(out, testing::HasSubstr("6.000000000"));
    EXPECT_THAT(out, testing::Not(testing::HasSubstr("7.000000000")));
}

// --max-wait is a millisecond.
TEST_F(TreeTest, ShowsACallThatRunsForLong) {
    renderer.begin(out, 5000000000);
    out.clear();
    ASSERT_TRUE(renderer.expect_running());
    const Probe &outer = probe("vfs_read");
    const Probe &inner = probe("rw_verify_area");
    call(inner, 5000000000, 50, 0);
    call(inner, 5000000200, 300, 0);
    runs(outer, 5000000100);
    tell(5000000900);
    EXPECT_EQ(out, "") << "what was there before is shown when it is told again";
    runs(outer, 5000000100);
    tell(5000001000);
    EXPECT_EQ(calls(), "    50ns  rw_verify_area(count=7) = 0\n") << "before it; it has not run for long";
    runs(outer, 5000000100);
    tell(5001000100);
    EXPECT_EQ(calls(), " running  vfs_read(count=7) {\n"
                       "   300ns    rw_verify_area(count=7) = 0\n");
    // More of it, and one that is in it.
    call(inner, 5002000000, 40, 0);
    runs(outer, 5000000100);
    runs(inner, 5002500000);
    tell(5003000000);
    EXPECT_EQ(calls(), "");
    runs(outer, 5000000100);
    runs(inner, 5002500000);
    tell(5004000000);
    EXPECT_EQ(calls(), "    40ns    rw_verify_area(count=7) = 0\n"
                       " running    rw_verify_area(count=7) {\n");
    call(probe("f"), 5004100000, 10, 1);
    call(inner, 5002500000, 2500000, 3);
    call(outer, 5000000100, 5999900, 832);
    call(inner, 5006000100, 60, 0);
    tell(5007000000);
    tell(5008000000);
    EXPECT_EQ(calls(), "    10ns      f(count=7) = 1\n"
                       "  2.50ms    } rw_verify_area(count=7) = 3\n"
                       "  6.00ms  } vfs_read(count=7) = 832\n"
                       "    60ns  rw_verify_area(count=7) = 0\n");
    EXPECT_FALSE(renderer.waiting());
}

TEST_F(TreeTest, OfOtherTasksNothingIsInTheCallThatRuns) {
    renderer.expect_running();
    const Probe &one = probe("f");
    runs(one, 5000000000, 146);
    tell(5010000000);
    EXPECT_EQ(calls(), " running  f(count=7) {\n");
    call(one, 5010000100, 50, 0);
    runs(one, 5000000000, 146);
    tell(5011000000);
    runs(one, 5000000000, 146);
    tell(5012000000);
    EXPECT_EQ(calls(), "    50ns  f(count=7) = 0\n");
}

TEST_F(TreeTest, WaitsForTheRecordOfACallThatHasJustReturned) {
    renderer.expect_running();
    const Probe &outer = probe("outer"), &inner = probe("inner");
    call(inner, 5000000200, 100, 0);
    runs(outer, 5000000100);
    tell(5000001000);
    tell(5000002000); // it runs no more
    EXPECT_EQ(out, "");
    call(outer, 5000000100, 1500, 1);
    tell(5000003000);
    EXPECT_EQ(calls(), "          outer(count=7) {\n"
                       "   100ns    inner(count=7) = 0\n"
                       "  1.50us  } = 1\n");
    // One whose record has been lost.
    call(inner, 5001000200, 100, 0);
    runs(outer, 5001000100);
    tell(5001001000);
    tell(5001002000);
    EXPECT_EQ(out, "");
    tell(5001003000);
    EXPECT_EQ(calls(), "   100ns  inner(count=7) = 0\n");
}

TEST_F(TreeTest, ForgetsACallWhoseRecordHasBeenLost) {
    renderer.expect_running();
    const Probe &one = probe("f");
    runs(one, 5000000000);
    tell(5010000000);
    EXPECT_EQ(calls(), " running  f(count=7) {\n");
    tell(5011000000);
    call(one, 5012000000, 50, 0);
    tell(5013000000);
    tell(5014000000);
    EXPECT_EQ(calls(), "    50ns  f(count=7) = 0\n");
}

TEST_F(TreeTest, AtTheEndAllThatRunAreShown) {
    renderer.expect_running();
    const Probe &one = probe("f"), &other = probe("g");
    call(other, 5000000010, 5, 0);
    runs(one, 5000000000);
    runs(other, 5000000020);
    // This one returns before tracing has ended.
    runs(one, 5000000040);
    call(one, 5000000040, 30, 2);
    tell(5000000050, true);
    renderer.end(out);
    EXPECT_EQ(calls(), " running  f(count=7) {\n"
                       "     5ns    g(count=7) = 0\n"
                       " running    g(count=7) {\n"
                       "    30ns      f(count=7) = 2\n");
}

TEST_F(TreeTest, ArgumentsThatAreNotKnownYet) {
    renderer.expect_running();
    Probe made = probe("f");
    made.args.insert(made.args.begin() + 1, argument("path", ARGTRACE_TYPE_STR));
    made.args[1].loc = ARGTRACE_LOC_PROGRAM;
    probes.push_back(made);
    Event event;
    event.ts = event.clock = 5000000000;
    event.probe = &probes.back();
    event.tid = 145;
    running.batch.events.push_back(event);
    running.batch.values = {{7, 0, ARGTRACE_TYPE_U64, true}, {}, {}};
    tell(5010000000);
    EXPECT_EQ(calls(), " running  f(count=7, ...) {\n");
}

} // namespace
} // namespace argtrace
