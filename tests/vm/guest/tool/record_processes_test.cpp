// SPDX-License-Identifier: GPL-2.0-only
// -p and --follow of `record`, `trace` and `add`: whose calls are shown, when it ends, and what it
// says.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "support/actor.h"
#include "support/command.h"
#include "support/machine.h"
#include "support/recording.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

const std::string burst = "/sys/kernel/debug/argtrace_test/burst";

class RecordProcesses : public Recording {
protected:
    static std::string number(const Actor &actor) { return std::to_string(actor.pid()); }

    static json header() {
        return json_lines(run({"argtrace", "report", trace_path, "--header", "--json"}).out).at(0);
    }

    static void says(const Outcome &outcome, const std::string &sentence) {
        EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
    }
};

TEST_F(RecordProcesses, ends_with_the_process) {
    Actor one, other;
    Background record({"argtrace", "record", "-o", trace_path, "-p", number(one), "at_four"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    one.call(30);
    other.call(20);
    one.call_in_child(5);
    EXPECT_TRUE(record.is_running());
    const std::string pid = number(one);
    one.end();
    const Outcome outcome = record.wait();
    EXPECT_EQ(outcome.status, 0);
    says(outcome, "process " + pid + " has ended");
    says(outcome, "55 calls: 30 recorded, 0 lost, 25 filtered");
    EXPECT_EQ(report().size(), 30u);
    EXPECT_EQ(header()["processes"], json::array({std::stoi(pid)}));
    EXPECT_EQ(header()["children"], false);
    EXPECT_NE(run({"argtrace", "report", trace_path, "--header"}).out.find("process " + pid),
              std::string::npos);
}

TEST_F(RecordProcesses, ends_with_the_last_of_several) {
    Actor one, two, other;
    const std::string both = number(one) + "," + number(two);
    Background trace({"argtrace", "trace", "--json", "-p", both, "-p", number(one), "at_four"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    one.call(3);
    one.end();
    two.call(4);
    other.call(5);
    const std::string pid = number(two);
    EXPECT_TRUE(trace.is_running());
    two.end();
    const Outcome outcome = trace.wait();
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(json_lines(outcome.out).size(), 7u);
    says(outcome, "have ended");
    says(outcome, "12 calls: 7 recorded, 0 lost, 5 filtered");
}

TEST_F(RecordProcesses, follows_a_command) {
    // It calls itself, from a subshell and from a program; another process does so meanwhile.
    Child other([] {
        for (;;)
            call_functions("burst", 1);
    });
    const std::string script = "echo 10 >" + burst + "; (echo 20 >" + burst +
                               "; :); sh -c 'echo 30 >" + burst + "; :'; exit 3";
    const Outcome outcome =
        run({"argtrace", "record", "-F", "-o", trace_path, "at_four", "--", "sh", "-c", script});
    EXPECT_EQ(outcome.status, 3) << outcome.err;
    EXPECT_EQ(report().size(), 60u);
    EXPECT_EQ(header()["children"], true);
    EXPECT_EQ(header()["processes"].size(), 1u);
    EXPECT_EQ(outcome.err.find(" 0 filtered"), std::string::npos) << outcome.err;
}

TEST_F(RecordProcesses, with_a_command_it_ends_with_that) {
    constexpr const char *go = "/tmp/record_processes_test.go";
    ASSERT_EQ(mkfifo(go, 0600), 0);
    Actor one;
    Background record({"argtrace", "record", "-o", trace_path, "-p", number(one), "at_four", "--",
                       "sh", "-c", std::string("echo 7 >") + burst + "; read line <" + go});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    one.call(5);
    one.end();
    EXPECT_TRUE(record.is_running());
    std::ofstream(go) << "go\n";
    const Outcome outcome = record.wait();
    unlink(go);
    EXPECT_EQ(outcome.status, 0);
    says(outcome, "12 calls: 5 recorded, 0 lost, 7 filtered");
    EXPECT_EQ(outcome.err.find("has ended"), std::string::npos) << outcome.err;
}

TEST_F(RecordProcesses, with_p_children_are_followed_if_so_wished) {
    Actor one;
    Background record({"argtrace", "record", "-o", trace_path, "-F", "-p", number(one), "at_four"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    one.call_in_child(10);
    one.call_in_grandchild(20);
    call_functions("burst", 5);
    one.end();
    const Outcome outcome = record.wait();
    EXPECT_EQ(outcome.status, 0);
    says(outcome, "35 calls: 30 recorded, 0 lost, 5 filtered");
}

TEST_F(RecordProcesses, status_tells) {
    Actor one;
    ASSERT_EQ(run({"argtrace", "add", "-F", "-p", number(one), "at_four"}).status, 0);
    one.call(10);
    one.call_in_child(10);
    call_functions("burst", 5);
    const json total = totals();
    EXPECT_EQ(total["records"], 20);
    EXPECT_EQ(total["filtered"], 5);
    EXPECT_EQ(total["processes"], json::array({one.pid()}));
    EXPECT_EQ(total["children"], true);
    EXPECT_TRUE(total["clock"] == "tsc" || total["clock"] == "mono") << total;
    const std::string text = run({"argtrace", "status"}).out;
    EXPECT_NE(text.find("only calls of process " + number(one) + " and its children"),
              std::string::npos)
        << text;

    EXPECT_EQ(run({"argtrace", "add", "-F", "-p", number(one), "at_two"}).status, 0);
    const Outcome refused = run({"argtrace", "add", "-p", number(one), "at_none"});
    EXPECT_EQ(refused.status, 1);
    says(refused, "there is a session already, which records the calls of process " + number(one) +
                      " and its children: end it with `argtrace clear`");
}

TEST_F(RecordProcesses, nothing_begins_without_the_process) {
    std::ofstream(trace_path) << "precious";
    Actor one;
    const std::string thread = std::to_string(one.thread());
    const struct {
        Words options;
        std::string sentence;
        int status;
    } cases[] = {
        {{"-p", "4194303"}, "4194303: no such process", 1},
        {{"-p", number(one) + ",2147483647"}, "2147483647: no such process", 1},
        {{"-p", thread}, thread + ": is a thread of process " + number(one), 1},
        {{"-p", "0"}, "-p takes the numbers of processes", 2},
        {{"-p", "-1"}, "-p", 2},
        {{"-p", "4294967297"}, "-p takes the numbers of processes", 2},
        {{"-p", "12,"}, "-p takes the numbers of processes", 2},
        {{"-F"}, "--follow needs a process", 2},
    };
    for (const auto &each : cases) {
        for (const Words &command : {Words{"argtrace", "record", "-o", trace_path},
                                     Words{"argtrace", "trace"}, Words{"argtrace", "add"}}) {
            Words words = command;
            words.insert(words.end(), each.options.begin(), each.options.end());
            words.push_back("at_four");
            const Outcome outcome = run(words);
            EXPECT_EQ(outcome.status, each.status) << outcome.err;
            says(outcome, each.sentence);
            EXPECT_FALSE(is_armed("at_four"));
        }
    }
    EXPECT_EQ(read_file(trace_path), "precious");
    EXPECT_EQ(run({"argtrace", "status", "--json"}).out.find("clock"), std::string::npos)
        << "no session is left";
}

} // namespace
} // namespace vmtest
