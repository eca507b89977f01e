// SPDX-License-Identifier: GPL-2.0-only
// USDT probes as the tool records them, against what the traced program (programs/usdt_probes.c) says itself.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/answering_program.h"
#include "support/architecture.h"
#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

const std::string usdt_program = "/root/usdt_probes", usdt_log = "/tmp/usdt_probes.log";
const std::string usdt_object = "usdt:" + usdt_program + ":", usdt_title = "usdt:usdt_probes:usdt_probes:";

std::vector<std::string> joined_words(std::vector<std::string> first, const std::vector<std::string> &rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
}

std::vector<std::string> logged_lines() {
    std::vector<std::string> lines;
    std::istringstream stream(read_file(usdt_log));
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

/// An event as the program's log has it: "NAME VALUE ...".
std::string usdt_line(const nlohmann::ordered_json &event) {
    const std::string function = event.at("func");
    EXPECT_TRUE(function.starts_with(usdt_title)) << function;
    std::string line = function.substr(usdt_title.size());
    for (const auto &[name, value] : event.at("args").items())
        line += ' ' + (value.is_string() ? value.get<std::string>() : value.dump());
    return line;
}

class UsdtProbes : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_uprobes();
    }

    static Outcome trace(const std::vector<std::string> &specs, const std::vector<std::string> &command) {
        return run(joined_words(joined_words({"argtrace", "trace", "--json"}, specs), joined_words({"--"}, command)));
    }
};

/// Which the program passes in each of its rounds, and `sites` three times in each.
std::vector<std::string> logged_probes() {
    std::vector<std::string> names = {"registers", "widths", "constants", "memory", "nothing", "sites", "guarded", "text(str(arg1) as text)"};
    if (!is_arm64)
        names.insert(names.end(), {"bytes", "symbols"});
    for (std::string &name : names)
        name = usdt_object + name;
    return names;
}

void expect_probes_as_logged(const Outcome &outcome, std::size_t least) {
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> passed;
    for (const auto &event : json_lines(outcome.out))
        passed.push_back(usdt_line(event));
    const std::vector<std::string> logged = logged_lines();
    EXPECT_GE(logged.size(), least);
    EXPECT_EQ(passed, logged);
    const auto summary = json_summary(outcome.out);
    EXPECT_EQ(summary.at("hits"), passed.size()) << summary.dump();
    EXPECT_EQ(summary.at("records"), passed.size()) << summary.dump();
    EXPECT_EQ(summary.at("faults"), 0) << summary.dump();
}

// The log has `guarded` where the semaphore was raised.
TEST_F(UsdtProbes, have_the_arguments_that_the_program_has_passed) {
    expect_probes_as_logged(trace(logged_probes(), {usdt_program, "200", usdt_log}), 200 * (logged_probes().size() + 2));
    EXPECT_EQ(std::ranges::count(logged_lines(), "guarded 7 1"), 1);
}

TEST_F(UsdtProbes, of_the_commands_children_are_recorded) {
    expect_probes_as_logged(trace(logged_probes(), {usdt_program, "50", usdt_log, "fork"}), 50 * (logged_probes().size() + 2));
}

TEST_F(UsdtProbes, arguments_that_are_not_read_are_no_others) {
    const Outcome outcome = trace({usdt_object + "unread"}, {usdt_program, "3", usdt_log});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto events = json_lines(outcome.out);
    ASSERT_EQ(events.size(), 3u) << outcome.out;
    for (std::size_t i = 0; i < events.size(); i++) {
        const auto &args = events[i].at("args");
        EXPECT_EQ(args.at("arg1").dump(), std::to_string(i) + ".0") << events[i].dump();
        EXPECT_EQ(args.at("arg2"), i) << events[i].dump();
        EXPECT_EQ(args.at("arg7"), i) << events[i].dump();
        for (const char *unread : {"arg3", "arg4", "arg5", "arg6"})
            EXPECT_TRUE(!args.contains(unread) || args.at(unread).is_null()) << events[i].dump();
    }
}

TEST_F(UsdtProbes, conditions_and_names_are_as_for_any_argument) {
    // The register that is the twelfth in the note.
    const std::string twelfth = is_arm64 ? "reg(\"x11\")" : "reg(\"r12\")";
    const Outcome outcome = trace({usdt_object + "memory(arg9 as top, arg5) if arg9 == -78 && arg10 == 77", usdt_object + "sites(arg1 as number) if arg1 < 0",
                                   usdt_object + "registers(" + twelfth + " as twelfth, arg12) if " + twelfth + " == arg12"},
                                  {usdt_program, "20", usdt_log});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::map<std::string, unsigned> counts;
    for (const auto &event : json_lines(outcome.out)) {
        const std::string name = event.at("func").get<std::string>().substr(usdt_title.size());
        counts[name]++;
        if (name == "registers") {
            EXPECT_EQ(event.at("args").at("twelfth"), event.at("args").at("arg12"));
        } else if (name == "memory") {
            EXPECT_EQ(event.at("args").at("top"), -78);
        }
    }
    EXPECT_EQ(counts["memory"], 20);
    EXPECT_EQ(counts["registers"], 20);
    EXPECT_EQ(counts["sites"], 19);
}

// The places of one probe add up under its name.
TEST_F(UsdtProbes, of_several_places_are_counted_as_one) {
    const Outcome counted = run({"argtrace", "count", "--json", usdt_object + "sites", usdt_object + "text", "--", usdt_program, "30", usdt_log});
    ASSERT_EQ(counted.status, 0) << counted.err;
    std::map<std::string, std::uint64_t> counts;
    for (const auto &row : json_lines(counted.out))
        if (row.contains("func"))
            counts[row.at("func")] += row.at("count").get<std::uint64_t>();
    EXPECT_EQ(counts[usdt_title + "sites"], 90) << counted.out;
    EXPECT_EQ(counts[usdt_title + "text"], 30) << counted.out;
    const Outcome keyed = run({"argtrace", "count", "--json", "--by", "arg1", usdt_object + "sites", "--", usdt_program, "30", usdt_log});
    ASSERT_EQ(keyed.status, 0) << keyed.err;
    std::uint64_t sum = 0;
    for (const auto &row : json_lines(keyed.out))
        if (row.contains("key"))
            sum += row.at("count").get<std::uint64_t>();
    EXPECT_EQ(sum, 90) << keyed.out;
}

/// A process that says what its semaphore is, for each line that it is sent.
class SemaphoreReader : public AnsweringProgram {
public:
    SemaphoreReader() : AnsweringProgram(usdt_program, "wait"), first_(semaphore()) {}
    int semaphore(const std::string &how = "") { return atoi(ask(how).c_str()); }
    int first() const { return first_; } ///< what it was when the process began

private:
    int first_;
};

TEST_F(UsdtProbes, raise_their_semaphore_as_long_as_they_are_there) {
    SemaphoreReader before;
    EXPECT_EQ(before.first(), 0);
    ASSERT_EQ(run({"argtrace", "add", usdt_object + "guarded"}).status, 0);
    {
        SemaphoreReader later;
        EXPECT_EQ(later.first(), 1);
        EXPECT_EQ(later.semaphore("fork"), 1);
    }
    EXPECT_EQ(before.semaphore(), 1);
    EXPECT_EQ(before.semaphore("fork"), 1);
    const Outcome status = run({"argtrace", "status", "--json"});
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    EXPECT_EQ(before.semaphore(), 0);
    EXPECT_EQ(before.semaphore("fork"), 0);
    std::uint64_t hits = 0;
    for (const auto &object : json_lines(status.out))
        if (object.contains("func"))
            hits += object.at("hits").get<std::uint64_t>();
    EXPECT_EQ(hits, 4) << status.out;
}

TEST_F(UsdtProbes, raise_the_semaphore_of_those_that_are_selected_alone) {
    SemaphoreReader one, other;
    ASSERT_EQ(run({"argtrace", "add", "-p", std::to_string(one.pid()), usdt_object + "guarded"}).status, 0);
    EXPECT_EQ(one.semaphore(), 1);
    EXPECT_EQ(other.semaphore(), 0);
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    EXPECT_EQ(one.semaphore(), 0);
    EXPECT_EQ(other.semaphore(), 0);
}

// A reader that dies, and two sessions that have the probe.
TEST_F(UsdtProbes, lower_their_semaphore_when_the_reader_has_died) {
    SemaphoreReader process;
    {
        Background first({"argtrace", "trace", "--json", usdt_object + "guarded"}), second({"argtrace", "trace", "--json", usdt_object + "guarded"});
        ASSERT_TRUE(eventually([&] { return process.semaphore() == 1; }));
        ASSERT_TRUE(eventually([&] { return second.err_so_far().find("until Ctrl-C") != std::string::npos; })) << second.err_so_far();
        first.end(SIGKILL);
        EXPECT_EQ(process.semaphore(), 1) << "there is one breakpoint for both";
        second.end(SIGKILL);
    }
    EXPECT_TRUE(eventually([&] { return process.semaphore() == 0; }));
}

// Kernel addresses where the program's pointers should be.
TEST_F(UsdtProbes, do_not_lead_to_memory_of_the_kernel) {
    const Outcome outcome = trace({usdt_object + "text(str(arg1) as text, arg1)", usdt_object + "memory(arg1, arg5, arg9)"}, {usdt_program, "kernel"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto events = json_lines(outcome.out);
    ASSERT_EQ(events.size(), 16u) << outcome.out;
    for (const auto &event : events) {
        const auto &args = event.at("args");
        if (args.contains("text")) {
            EXPECT_TRUE(args.at("text").is_null()) << event.dump();
        } else {
            EXPECT_TRUE(args.at("arg1").is_null()) << event.dump();
            EXPECT_TRUE(args.at("arg5").is_null()) << event.dump();
            EXPECT_EQ(args.at("arg9"), -78);
        }
    }
}

// The functions that Python calls, which a script knows itself.
TEST_F(UsdtProbes, of_python_name_its_functions) {
    if (is_arm64)
        GTEST_SKIP() << "the Python that builds the tests does not run there";
    const std::string python = "usdt:/root/python3:", script = "/tmp/usdt_probes.py";
    if (run({"argtrace", "list", python + "function__entry"}).status != 0)
        GTEST_SKIP() << "this Python has no USDT probes";
    std::ofstream(script) << "def first(n):\n    return second(n) + 1\n"
                             "def second(n):\n    return n\n"
                             "for i in range(50): first(i)\n";
    const Outcome outcome = trace({python + "function__entry(str(arg2) as name, arg3 as line) if str(arg1) == \"" + script + "\"",
                                   // Without which Python 3.11 passes no function__entry, though that has a semaphore of its own.
                                   python + "line if arg3 < 0", python + "gc__start"},
                                  {"sh", "-c", "cd /root && tar -xf python_library.tar && exec env PYTHONHOME=/root ./python3 -S " + script});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> names, expected = {"<module>"};
    for (unsigned i = 0; i < 50; i++)
        expected.insert(expected.end(), {"first 1", "second 3"});
    for (const auto &event : json_lines(outcome.out)) {
        if (event.at("func") == "usdt:python3:python:function__entry") {
            const std::string name = event.at("args").at("name");
            names.push_back(name == "<module>" ? name : name + ' ' + event.at("args").at("line").dump());
            continue;
        }
        EXPECT_LE(event.at("args").at("arg1"), 2) << "a generation of the garbage collector's";
    }
    EXPECT_EQ(names, expected) << outcome.out;
}

} // namespace
} // namespace vmtest
