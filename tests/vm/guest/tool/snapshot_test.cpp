// SPDX-License-Identifier: GPL-2.0-only
// argtrace add --flight, snapshot and status, as a person uses them.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include "calls.h"
#include "support/command.h"
#include "support/machine.h"
#include "support/recording.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

class Snapshot : public Recording {
protected:
    static void succeeds(const std::vector<std::string> &words) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
    }

    static void fails(const std::vector<std::string> &words, const std::string &part) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.status, 1);
        EXPECT_EQ(outcome.err.rfind("argtrace: ", 0), 0u) << outcome.err;
        EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    }
};

TEST_F(Snapshot, has_the_newest_calls_and_recording_goes_on) {
    succeeds({"argtrace", "add", "--flight", "--buffer", "64K", "at_four"});
    pin_to_cpu(1);
    call_functions("burst", 6000);
    const Outcome first = run({"argtrace", "snapshot", "-o", trace_path});
    ASSERT_EQ(first.status, 0) << first.err;
    EXPECT_NE(first.err.find("overwritten since"), std::string::npos) << first.err;
    const json status = totals();
    EXPECT_EQ(status["hits"], 6000);
    EXPECT_EQ(status["lost"]["full"], 0);

    std::vector<json> events = report();
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events.size() + status["overwritten"].get<std::size_t>(),
              status["records"].get<std::size_t>());
    EXPECT_EQ(events.back()["args"]["count"], at_value(5999, 2)) << "the newest is the last one";
    EXPECT_EQ(events.front()["args"]["count"], at_value(6000 - events.size(), 2));
    EXPECT_EQ(events.back()["func"], "at_four");
    EXPECT_NE(events.back()["caller"].get<std::string>().find("make_call"), std::string::npos)
        << events.back();

    // Consecutive up to the newest, whatever else is recorded between them.
    call_functions("burst", 10);
    unpin();
    succeeds({"argtrace", "snapshot", "-o", trace_path, "--compress"});
    events = report();
    ASSERT_GT(events.size(), 10u);
    EXPECT_EQ(events.back()["args"]["count"], at_value(9, 2));
    EXPECT_TRUE(is_armed("at_four"));
}

TEST_F(Snapshot, goes_through_a_pipe) {
    succeeds({"argtrace", "add", "--flight", "at_four"});
    call_functions("burst", 20);
    const Outcome outcome = run({"sh", "-c", "argtrace snapshot -o - | argtrace report --json -"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(json_lines(outcome.out).size(), 20u);
}

TEST_F(Snapshot, of_a_recorder_that_is_hard_at_work) {
    // One is killed early or late while another runs: that one and the next are complete all the same.
    succeeds({"argtrace", "add", "--flight", "--buffer", "64K", "vfs_read", "vfs_open"});
    std::vector<std::unique_ptr<Child>> writers;
    for (int i = 0; i < 3; i++)
        writers.push_back(std::make_unique<Child>(hammer_vfs_read));
    const auto start = std::chrono::steady_clock::now();
    succeeds({"argtrace", "snapshot", "-o", trace_path});
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
    for (const double part : {0.4, 1.0}) {
        Background killed({"argtrace", "snapshot", "-o", "/tmp/killed.dat"});
        Background other({"argtrace", "snapshot", "-o", "/tmp/other.dat"});
        std::this_thread::sleep_for(whole * part);
        killed.end(SIGKILL);
        EXPECT_EQ(other.wait().status, 0);
        succeeds({"argtrace", "snapshot", "-o", trace_path});
        const std::vector<json> events = report();
        EXPECT_GT(events.size(), 100u);
        for (const json &event : events) {
            const std::string function = event["func"];
            ASSERT_TRUE(function == "vfs_read" || function == "vfs_open") << event;
        }
    }
    unlink("/tmp/killed.dat");
    unlink("/tmp/other.dat");
}

TEST_F(Snapshot, only_of_a_flight_recorder) {
    fails({"argtrace", "snapshot", "-o", trace_path}, "`argtrace add --flight FUNC`");
    EXPECT_NE(access(trace_path, F_OK), 0) << "nothing was written";
    succeeds({"argtrace", "add", "at_four"});
    fails({"argtrace", "snapshot", "-o", trace_path}, "no flight recorder");
    fails({"argtrace", "add", "--flight", "at_two"},
          "there is a session already, which is no flight");
    EXPECT_FALSE(totals().contains("overwritten"));
}

TEST_F(Snapshot, is_what_trace_and_record_say_instead) {
    succeeds({"argtrace", "add", "--flight", "at_four"});
    fails({"argtrace", "trace"}, "save its content with `argtrace snapshot`");
    fails({"argtrace", "record", "-o", trace_path}, "save its content with `argtrace snapshot`");
    EXPECT_TRUE(is_armed("at_four"));
    EXPECT_NE(run({"argtrace", "status"}).out.find("flight recorder: 0 of the records"),
              std::string::npos);
}

} // namespace
} // namespace vmtest
