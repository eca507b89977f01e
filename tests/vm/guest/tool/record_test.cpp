// SPDX-License-Identifier: GPL-2.0-only
// `argtrace record` and `argtrace report`: what is in the file is what happened, whatever ends it.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "calls.h"
#include "support/command.h"
#include "support/machine.h"
#include "support/recording.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

const std::string helper = "/sys/kernel/debug/argtrace_test/";

class Record : public Recording {
protected:
    /// Records while the helper makes its calls, so many or so many times.
    static Outcome record_calls(const std::string &file, unsigned count, const Words &options) {
        Words words{"argtrace", "record", "-o", trace_path};
        words.insert(words.end(), options.begin(), options.end());
        words.insert(words.end(),
                     {"--", "sh", "-c", "echo " + std::to_string(count) + " >" + helper + file});
        return run(words);
    }
};

/// Without what differs between two tracers of the same call.
json without_time(json event) {
    event.erase("ts");
    event.erase("flags"); // a reschedule may become due between the two
    return event;
}

// Sorts into an order that both share: they read their clocks one after the other, so calls on two
// CPUs, or a call in an interrupt between the two, may be the other way round.
std::vector<json> in_common_order(std::vector<json> events) {
    std::stable_sort(events.begin(), events.end(), [](const json &a, const json &b) {
        const auto place = [](const json &event) {
            const std::string &flags = event["flags"].get_ref<const std::string &>();
            return std::tuple(event["cpu"].get<int>(), event["tid"].get<int>(), flags[0] == 'd',
                              flags[2]);
        };
        return place(a) < place(b);
    });
    return events;
}

TEST_F(Record, shows_what_trace_shows) {
    const unsigned rounds = is_long_run() ? 20 : 4;
    for (const Words &options : std::vector<Words>{
             {}, {"--compress"}, {"--encoding", "named"}, {"--compress=19", "--no-caller"}}) {
        Words words{"argtrace", "trace", "--json", "--types", "argtrace_test:at_*"};
        if (options.size() > 1 && options[0] == "--compress=19")
            words.push_back("--no-caller");
        Background trace(words);
        ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
        Words record{"argtrace_test:at_*"};
        record.insert(record.end(), options.begin(), options.end());
        const Outcome recorded = record_calls("run", rounds, record);
        EXPECT_EQ(recorded.status, 0) << recorded.err;
        const auto live = in_common_order(json_lines(trace.end(SIGINT).out));
        const auto later = in_common_order(report({"--types"}));
        ASSERT_EQ(live.size(), later.size());
        ASSERT_GT(later.size(), 20u);
        for (std::size_t i = 0; i < live.size(); i++)
            EXPECT_EQ(without_time(live[i]), without_time(later[i]));
    }
}

TEST_F(Record, known_values) {
    EXPECT_EQ(record_calls("burst", 300, {"at_four(count)"}).status, 0);
    const auto events = report();
    ASSERT_EQ(events.size(), 300u);
    for (std::uint64_t call = 0; call < 300; call++)
        EXPECT_EQ(events[call]["args"]["count"], at_value(call, 2));
}

// A load of many processes: the file has as many calls of each function as status counts.
TEST_F(Record, many_processes_are_counted_as_status_does) {
    const Words functions{"vfs_mkdir", "vfs_rmdir", "vfs_rename", "vfs_symlink"};
    Words add{"argtrace", "add", "--buffer", "16M"};
    add.insert(add.end(), functions.begin(), functions.end());
    ASSERT_EQ(run(add).status, 0);
    Background record({"argtrace", "record", "-o", trace_path});
    ASSERT_TRUE(
        eventually([&] { return record.err_so_far().find("recording") != std::string::npos; }));
    const int rounds = is_long_run() ? 40 : 12;
    const Outcome load = run({"sh", "-c",
                              "build() { for i in $(seq " + std::to_string(rounds) +
                                  "); do mkdir $1.$i && : >$1.$i/o && mv $1.$i/o $1.$i/p && "
                                  "ln -s p $1.$i/q && rm -r $1.$i; done; }; cd /tmp; build a & "
                                  "build b & build c & build d & wait"});
    ASSERT_EQ(load.status, 0) << load.err;
    const Outcome recorded = record.end(SIGINT);
    EXPECT_EQ(recorded.status, 0) << recorded.err;

    std::map<std::string, std::uint64_t> status, reported;
    std::uint64_t lost = 0;
    for (const json &line : json_lines(run({"argtrace", "status", "--json"}).out)) {
        if (line.contains("func"))
            status[line["func"]] = line["records"];
        else
            lost = line["lost"]["full"];
    }
    for (const json &line : report({"--stats"})) {
        if (line.contains("func"))
            reported[line["func"]] = line["calls"];
    }
    EXPECT_EQ(lost, 0u);
    EXPECT_EQ(status, reported);
    EXPECT_GE(reported["vfs_mkdir"], 4u * rounds);
    EXPECT_GE(report({"vfs_rename", "--comm", "mv"}).size(), 4u * rounds);
}

TEST_F(Record, loss_is_in_the_file) {
    const Outcome recorded = record_calls("burst", 20000, {"--buffer", "8K", "at_four"});
    EXPECT_EQ(recorded.status, 0);
    EXPECT_NE(recorded.err.find("20000 calls: "), std::string::npos) << recorded.err;
    EXPECT_NE(recorded.err.find("use --buffer"), std::string::npos) << recorded.err;
    std::uint64_t events = 0, lost = 0;
    for (const json &line : report({"--stats"})) {
        if (line.contains("cpu")) {
            events += line["events"].get<std::uint64_t>();
            lost += line["lost"].get<std::uint64_t>();
        }
    }
    EXPECT_GT(lost, 0u);
    EXPECT_EQ(events + lost, 20000u);
}

TEST_F(Record, through_a_pipe_as_it_happens) {
    Background both({"sh", "-c", "argtrace record -o - at_four | argtrace report - --json"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    for (std::size_t i = 1; i <= 3; i++) {
        call_functions("burst", 1);
        EXPECT_TRUE(eventually([&] { return json_lines(both.out_so_far()).size() == i; }));
    }
    EXPECT_TRUE(both.is_running());
    EXPECT_EQ(run({"pkill", "-INT", "-f", "^argtrace record"}).status, 0);
    const Outcome outcome = both.wait();
    EXPECT_EQ(json_lines(outcome.out).size(), 3u);
}

TEST_F(Record, whole_through_a_pipe) {
    const Outcome outcome =
        run({"sh", "-c",
             "argtrace record -o - --compress at_four -- sh -c 'echo hello; echo 5000 >" + helper +
                 "burst' | argtrace report - --json"});
    EXPECT_EQ(json_lines(outcome.out).size(), 5000u) << outcome.err;
    EXPECT_NE(outcome.err.find("hello\n"), std::string::npos) << "its output is out of the way";
}

TEST_F(Record, exits_as_the_command_does) {
    EXPECT_EQ(
        run({"argtrace", "record", "-o", trace_path, "at_four", "--", "sh", "-c", "exit 7"}).status,
        7);
    EXPECT_EQ(
        run({"argtrace", "record", "-o", trace_path, "at_four", "--", "sh", "-c", "kill -9 $$"})
            .status,
        128 + 9);
    const Outcome none =
        run({"argtrace", "record", "-o", trace_path, "at_four", "--", "no_such_command", "-x"});
    EXPECT_EQ(none.status, 127);
    EXPECT_NE(none.err.find("no_such_command: cannot be run: No such file or directory"),
              std::string::npos)
        << none.err;
    EXPECT_FALSE(is_armed("at_four"));
}

TEST_F(Record, ends_a_command_that_runs_for_ever) {
    Background record({"argtrace", "record", "-o", trace_path, "at_four", "--", "sleep", "1000"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    call_functions("burst", 10);
    const Outcome outcome = record.end(SIGINT);
    EXPECT_EQ(outcome.status, 128 + SIGTERM) << outcome.err;
    EXPECT_EQ(report().size(), 10u);
}

TEST_F(Record, interrupted_at_once_it_leaves_a_whole_file) {
    ASSERT_EQ(run({"argtrace", "add", "at_four"}).status, 0);
    for (int round = 0; round < 5; round++) {
        unlink(trace_path);
        Background record({"argtrace", "record", "-o", trace_path});
        while (record.err_so_far().empty() && record.is_running())
            sched_yield();
        const Outcome outcome = record.end(SIGINT);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_TRUE(report().empty());
    }
}

// As on another machine: neither the module nor the functions are there any more.
TEST_F(Record, report_needs_no_module) {
    EXPECT_EQ(record_calls("burst", 100, {"at_four"}).status, 0);
    const auto here = report();
    ASSERT_EQ(unload_module("argtrace"), 0);
    ASSERT_EQ(unload_module("argtrace_test"), 0);
    const auto there = report();
    EXPECT_EQ(here, there);
    ASSERT_EQ(there.size(), 100u);
    EXPECT_NE(there[0]["caller"].get<std::string>().find("[argtrace_test]"), std::string::npos);
    const Outcome header = run({"argtrace", "report", "--header", "--json", trace_path});
    EXPECT_EQ(json::parse(header.out)["host"], "guest");
    need_argtrace();
    need_test_module();
}

TEST_F(Record, a_recorder_that_is_killed_leaves_a_file) {
    Background record({"argtrace", "record", "-o", trace_path, "at_four"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    call_functions("burst", 100);
    ASSERT_TRUE(eventually([] {
        return json_lines(run({"argtrace", "report", trace_path, "--json"}).out).size() == 100;
    }));
    record.end(SIGKILL);
    const Outcome outcome = run({"argtrace", "report", trace_path, "--json"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(json_lines(outcome.out).size(), 100u);
    EXPECT_NE(outcome.err.find("it is cut short after "), std::string::npos) << outcome.err;
    EXPECT_TRUE(eventually([] { return !is_armed("at_four"); }));
}

TEST_F(Record, a_disk_that_is_full) {
    const std::string disk = "/tmp/small_disk";
    mkdir(disk.c_str(), 0700);
    ASSERT_EQ(mount("none", disk.c_str(), "tmpfs", 0, "size=64k"), 0);
    const Outcome outcome = run({"argtrace", "record", "-o", disk + "/trace.dat", "at_four", "--",
                                 "sh", "-c", "echo 20000 >" + helper + "burst; sleep 100"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.err.find(disk + "/trace.dat: no space left to write to: "), std::string::npos)
        << outcome.err;
    EXPECT_FALSE(is_armed("at_four"));
    const Outcome report = run({"argtrace", "report", disk + "/trace.dat", "--stats"});
    EXPECT_EQ(report.status, 1);
    EXPECT_NE(report.err.find("it is cut short after "), std::string::npos) << report.err;
    EXPECT_EQ(umount(disk.c_str()), 0);
    rmdir(disk.c_str());
}

TEST_F(Record, what_goes_wrong_is_told) {
    const auto fails = [](const Words &words, const std::string &sentence) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.status, 1);
        EXPECT_NE(outcome.err.find("argtrace: " + sentence), std::string::npos) << outcome.err;
    };
    fails({"argtrace", "record", "-o", "/nowhere/x", "at_four"},
          "/nowhere/x: cannot be written: No such file or directory");
    fails({"argtrace", "record"}, "no functions are traced: add some with");
    fails({"argtrace", "report", "/nowhere/x"},
          "/nowhere/x: cannot be read: No such file or directory");
    fails({"argtrace", "report", "/bin/sh"}, "/bin/sh: it is no trace of argtrace");
    EXPECT_EQ(run({"argtrace", "report", "-F", "time,nonsense"}).status, 2);
    EXPECT_EQ(run({"argtrace", "record", "--compress=99", "at_four"}).status, 2);
    const Outcome pipe = run({"bash", "-c",
                              "argtrace record -o - at_four -- sh -c 'sleep 0.3; echo 5 >" +
                                  helper + "burst; sleep 100' | true; exit ${PIPESTATUS[0]}"});
    EXPECT_EQ(pipe.status, 1);
    EXPECT_NE(pipe.err.find("nobody reads it any more"), std::string::npos) << pipe.err;
}

} // namespace
} // namespace vmtest
