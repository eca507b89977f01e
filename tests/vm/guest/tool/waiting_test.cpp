// SPDX-License-Identifier: GPL-2.0-only
// How a live trace waits: an event is shown without waiting for the next, heavy traffic does not wake
// the reader for each event, and the reader does not run at all while nothing is called.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

class Waiting : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
        run({"argtrace", "clear"});
    }

    /// What the scheduler has counted for a process.
    struct Usage {
        std::uint64_t ticks = 0;  // CPU time
        std::uint64_t sleeps = 0; // how often it waited for something

        bool operator==(const Usage &) const = default;
        friend std::ostream &operator<<(std::ostream &out, const Usage &usage) {
            return out << usage.ticks << " ticks, " << usage.sleeps << " sleeps";
        }
    };

    static Usage usage_of(pid_t pid) {
        const std::string directory = "/proc/" + std::to_string(pid);
        const std::string status = read_file(directory + "/status");
        const std::string label = "\nvoluntary_ctxt_switches:";
        Usage usage;
        const std::size_t at = status.find(label);
        if (at == status.npos) {
            ADD_FAILURE() << status;
            return usage;
        }
        usage.sleeps = std::stoull(status.substr(at + label.size()));

        // After the name in parentheses: the state, ten other fields, utime, stime (proc(5)).
        const std::string stat = read_file(directory + "/stat");
        std::istringstream fields(stat.substr(stat.rfind(')') + 1));
        std::string skipped;
        for (int i = 0; i < 11; ++i)
            fields >> skipped;
        std::uint64_t user = 0, system = 0;
        fields >> user >> system;
        EXPECT_TRUE(fields) << stat;
        usage.ticks = user + system;
        return usage;
    }

    /// Waits until the process has slept for a while and so has nothing left to do.
    static bool comes_to_rest(pid_t pid) {
        return eventually([pid] {
            const Usage before = usage_of(pid);
            usleep(300000);
            return usage_of(pid) == before;
        });
    }

    static std::size_t lines_of(const Background &trace) {
        const std::string text = trace.out_so_far();
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }
};

TEST_F(Waiting, each_of_thin_events_is_shown_without_another) {
    Background trace({"argtrace", "trace", "--no-header", "at_four"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    for (std::size_t calls = 1; calls <= 5; ++calls) {
        ASSERT_TRUE(comes_to_rest(trace.pid()));
        call_functions("burst", 1);
        ASSERT_TRUE(eventually([&] { return lines_of(trace) == calls; })) << trace.out_so_far();
    }
    EXPECT_EQ(trace.end(SIGINT).status, 0);
}

TEST_F(Waiting, an_idle_trace_takes_no_time) {
    Background trace({"argtrace", "trace", "--no-header", "at_four"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    call_functions("burst", 10);
    ASSERT_TRUE(eventually([&] { return lines_of(trace) == 10; }));
    ASSERT_TRUE(comes_to_rest(trace.pid()));

    const Usage before = usage_of(trace.pid());
    sleep(3);
    EXPECT_EQ(usage_of(trace.pid()), before);
    EXPECT_EQ(trace.end(SIGINT).status, 0);
}

TEST_F(Waiting, thick_traffic_does_not_wake_it_for_each_event) {
    constexpr std::size_t bursts = 200, calls = 500;
    Background trace({"argtrace", "trace", "--no-header", "--buffer", "16M", "at_four"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    ASSERT_TRUE(comes_to_rest(trace.pid()));

    const Usage before = usage_of(trace.pid());
    for (std::size_t i = 0; i < bursts; ++i)
        call_functions("burst", calls);
    ASSERT_TRUE(comes_to_rest(trace.pid()));
    const std::uint64_t sleeps = usage_of(trace.pid()).sleeps - before.sleeps;
    const std::size_t events = lines_of(trace);
    EXPECT_EQ(events, bursts * calls);
    EXPECT_LT(sleeps * 20, events) << sleeps << " sleeps for " << events << " events";
    EXPECT_GT(sleeps, 0u);
    std::cout << sleeps << " sleeps for " << events << " events\n";
    EXPECT_EQ(trace.end(SIGINT).status, 0);
}

} // namespace
} // namespace vmtest
