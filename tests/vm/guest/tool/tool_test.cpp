// SPDX-License-Identifier: GPL-2.0-only
// The tool as a person uses it: sessions that live on, and counts that add up. What is no more than a
// command and its answer is in tests/vm/cases.
#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <fstream>

#include "calls.h"
#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

class Tool : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
        run({"argtrace", "clear"});
    }
    void TearDown() override { run({"argtrace", "clear"}); }

    /// The command must fail with status 1 and exactly this sentence.
    static void fails(const std::vector<std::string> &words, const std::string &sentence) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.status, 1);
        EXPECT_EQ(outcome.err, "argtrace: " + sentence + "\n");
        EXPECT_EQ(outcome.out, "");
    }

    static void succeeds(const std::vector<std::string> &words) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
    }

    static json status_of(const std::string &function) {
        for (const json &line : json_lines(run({"argtrace", "status", "--json"}).out)) {
            if (line.value("func", "") == function)
                return line;
        }
        return {};
    }
};

TEST_F(Tool, what_add_arms_stays_until_it_is_removed) {
    succeeds({"argtrace", "add", "at_four", "at_two"});
    EXPECT_TRUE(is_armed("at_four"));
    call_functions("burst", 25);
    EXPECT_EQ(status_of("at_four")["hits"], 25);
    EXPECT_EQ(status_of("at_four")["records"], 25);
    EXPECT_EQ(status_of("at_two")["hits"], 0);

    succeeds({"argtrace", "rm", "at_four"});
    EXPECT_FALSE(is_armed("at_four"));
    EXPECT_TRUE(is_armed("at_two"));
    succeeds({"argtrace", "clear"});
    EXPECT_FALSE(is_armed("at_two"));
    EXPECT_EQ(run({"argtrace", "status", "--json"}).out,
              R"({"hits":0,"records":0,"lost":{"full":0,"recursion":0,"no_buffer":0},"filtered":0,)"
              R"("sampled":0,"capped":0,"faults":0})"
              "\n");
}

TEST_F(Tool, a_trace_of_its_own_leaves_nothing_behind) {
    Background trace({"argtrace", "trace", "--json", "-n", "7", "at_four"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    call_functions("burst", 100);
    const Outcome outcome = trace.wait();
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(json_lines(outcome.out).size(), 7u);
    EXPECT_FALSE(is_armed("at_four"));
    EXPECT_NE(outcome.err.find("7 events shown; "), std::string::npos) << outcome.err;
}

TEST_F(Tool, a_trace_begins_with_what_was_called_since_add) {
    succeeds({"argtrace", "add", "at_four"});
    call_functions("burst", 300);
    const Outcome outcome = run({"argtrace", "trace", "--json", "--duration", "0.2"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(json_lines(outcome.out).size(), 300u);
    EXPECT_TRUE(is_armed("at_four")) << "a trace without functions takes nothing away";
}

TEST_F(Tool, interrupting_drains_the_rings_first) {
    Background trace({"argtrace", "trace", "--json", "at_four"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    ASSERT_EQ(kill(trace.pid(), SIGSTOP), 0);
    call_functions("burst", 5000);
    ASSERT_EQ(kill(trace.pid(), SIGINT), 0);
    ASSERT_EQ(kill(trace.pid(), SIGCONT), 0);
    const Outcome outcome = trace.wait();
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(json_lines(outcome.out).size(), 5000u);
}

TEST_F(Tool, loss_adds_up_and_is_told) {
    succeeds({"argtrace", "add", "--buffer", "8K", "at_four"});
    call_functions("burst", 10000);
    const json status = status_of("at_four");
    EXPECT_EQ(status["hits"], 10000);
    EXPECT_GT(status["lost"]["full"], 0);
    EXPECT_EQ(status["records"].get<int>() + status["lost"]["full"].get<int>() +
                  status["lost"]["recursion"].get<int>(),
              10000);

    const Outcome outcome = run({"argtrace", "trace", "--json", "--duration", "0.2"});
    EXPECT_EQ(json_lines(outcome.out).size(), status["records"].get<std::size_t>());
    EXPECT_NE(outcome.err.find("lost"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("--buffer"), std::string::npos) << "and the remedy: " << outcome.err;

    const auto totals = json_lines(run({"argtrace", "status", "--json"}).out).back();
    EXPECT_FALSE(totals.contains("func"));
    EXPECT_EQ(totals["hits"], 10000);
}

TEST_F(Tool, events_appear_while_traffic_is_thin) {
    Background trace({"argtrace", "trace", "--json", "at_four"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    for (std::size_t i = 1; i <= 3; i++) {
        call_functions("burst", 1);
        EXPECT_TRUE(eventually([&] { return json_lines(trace.out_so_far()).size() == i; }));
    }
}

TEST_F(Tool, its_own_calls_are_filtered) {
    Background trace({"argtrace", "trace", "--json", "vfs_write"});
    ASSERT_TRUE(eventually([] { return is_armed("vfs_write"); }));
    run({"dd", "if=/dev/zero", "of=/dev/null", "count=5"});
    const pid_t pid = trace.pid();
    const Outcome outcome = trace.end(SIGINT);
    for (const json &event : json_lines(outcome.out))
        EXPECT_NE(event["tid"], pid);
    EXPECT_NE(outcome.err.find(" filtered"), std::string::npos);
}

TEST_F(Tool, a_session_that_is_removed_ends_its_trace) {
    succeeds({"argtrace", "add", "at_four"});
    Background trace({"argtrace", "trace", "--json"});
    call_functions("burst", 3);
    ASSERT_TRUE(eventually([&] { return json_lines(trace.out_so_far()).size() == 3; }));
    succeeds({"argtrace", "clear"});
    EXPECT_TRUE(eventually([&] { return !trace.is_running(); }));
    EXPECT_EQ(trace.wait().status, 0);
}

TEST_F(Tool, some_arguments_of_a_function) {
    Background trace({"argtrace", "trace", "--json", "-n", "3", "at_four(pos, count)"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    call_functions("burst", 3);
    const auto events = json_lines(trace.wait().out);
    ASSERT_EQ(events.size(), 3u);
    for (std::uint64_t call = 0; call < 3; call++) {
        const json &args = events[call]["args"];
        ASSERT_EQ(args.size(), 2u) << args;
        EXPECT_EQ(args["count"], at_value(call, 2));
        EXPECT_TRUE(args.contains("pos"));
    }
}

TEST_F(Tool, raw_takes_the_prototype_where_there_is_one) {
    Background trace({"argtrace", "trace", "--json", "--raw", "-n", "1", "at_two"});
    ASSERT_TRUE(eventually([] { return is_armed("at_two"); }));
    call_functions("run", 1);
    const auto events = json_lines(trace.wait().out);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_TRUE(events[0]["args"].contains("a"));
}

TEST_F(Tool, while_ftrace_is_switched_off) {
    const auto set = [](const char *value) {
        std::ofstream out("/proc/sys/kernel/ftrace_enabled");
        out << value << std::flush;
        return out.good();
    };
    const bool switched_off = set("0");
    if (!switched_off && errno == EOPNOTSUPP) {
        GTEST_SKIP() << "this kernel lets nobody switch ftrace off any more";
    }
    ASSERT_TRUE(switched_off);
    fails({"argtrace", "add", "at_four"},
          "cannot add the functions: ftrace is switched off; switch it on with "
          "`sysctl kernel.ftrace_enabled=1`");
    ASSERT_TRUE(set("1"));
    succeeds({"argtrace", "add", "at_four"});
    EXPECT_FALSE(set("0")) << "calls would be missed, and nobody told";
}

} // namespace
} // namespace vmtest
