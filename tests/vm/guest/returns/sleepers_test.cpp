// SPDX-License-Identifier: GPL-2.0-only
// Tasks sleep in several functions that are followed while others call such functions all the time, and all that can end tracing comes
// at once: the probes and the session go, the module stays until the last of them has returned, and each returns what it should.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/neighbours.h"

namespace vmtest {
namespace {

const std::string sleepers_directory = "/sys/kernel/debug/argtrace_sleepers/";

/// Two for each function (see argtrace_sleepers.c), by their numbers.
constexpr unsigned nr_sleepers = 10;
const std::map<std::string, std::uint64_t> calls_asleep = {
    {"asl_value", 4}, // in asl_outer() as well
    {"asl_many", 2},
    {"asl_wide", 2},
    {"asl_outer", 2},
    {"asl_deep", 8}, // four levels
};

bool write_to_sleepers(const std::string &file, std::uint64_t number) {
    std::ofstream out(sleepers_directory + file);
    out << number << std::flush;
    return out.good();
}

/// Forks. The child does not hold the device open.
pid_t begin_sleeper(unsigned number) {
    const pid_t pid = fork();
    if (pid == 0) {
        close_range(STDERR_FILENO + 1, ~0u, 0);
        _exit(write_to_sleepers("sleep", number) ? 0 : 1);
    }
    return pid;
}

class TasksAsleep {
public:
    explicit TasksAsleep(unsigned first) {
        for (unsigned i = 0; i < nr_sleepers; i++)
            pids_.push_back(begin_sleeper(first + i));
    }
    /// Only if the test has failed are there any left.
    ~TasksAsleep() {
        for (const pid_t pid : pids_)
            kill(pid, SIGKILL);
        for (const pid_t pid : pids_)
            waitpid(pid, nullptr, 0);
    }
    TasksAsleep(const TasksAsleep &) = delete;
    TasksAsleep &operator=(const TasksAsleep &) = delete;

    bool none_has_ended() const {
        return std::all_of(pids_.begin(), pids_.end(), [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) == 0; });
    }

    /// When they have been woken: expects that each call has returned what it should.
    void expect_results() {
        for (const pid_t pid : pids_) {
            int status = 0;
            EXPECT_EQ(waitpid(pid, &status, 0), pid);
            EXPECT_EQ(status, 0) << "the call has returned something else, or has never been made";
        }
        pids_.clear();
    }

    const std::vector<pid_t> &pids() const { return pids_; }

private:
    std::vector<pid_t> pids_;
};

/// Processes that call functions that are followed, in all contexts.
class Hammers {
public:
    Hammers() {
        children_.push_back(std::make_unique<Child>(hammer_vfs_read));
        children_.push_back(std::make_unique<Child>([] {
            for (;; usleep(1000)) {
                call_neighbours(100);
                if (testing::Test::HasFailure())
                    abort(); // which the destructor sees
            }
        }));
        children_.push_back(std::make_unique<Child>([] {
            for (;; usleep(1000))
                run_load({200, 300000, 3, 20, 3});
        }));
    }

private:
    std::vector<std::unique_ptr<Child>> children_;
};

/// In the session of the tool.
void follow_all_of_it() {
    const Outcome added = run({"argtrace", "add", "-r", "--buffer", "64K", "asl_*", "an_many", "vfs_read", "al_process", "al_interrupt", "al_nmi"});
    ASSERT_EQ(added.status, 0) << added.err;
}

std::map<std::string, std::uint64_t> calls_in_flight() {
    std::map<std::string, std::uint64_t> calls;
    for (const auto &line : json_lines(run({"argtrace", "status", "--json"}).out)) {
        const std::string function = line.value("func", "");
        if (calls_asleep.contains(function))
            calls[function] = line.value("in_flight", 0u);
    }
    return calls;
}

/// Calls of an_value(), which nobody sleeps in, recorded in a session of the test's own.
class RecordedCalls {
public:
    RecordedCalls() {
        EXPECT_EQ(device_.session("", packet_size, packets), 0);
        EXPECT_EQ(device_.reader(), 0);
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
            rings_.push_back(std::make_unique<RawRing>(device_, cpu, packet_size, packets));
        EXPECT_EQ(device_.add(RawProbe::call(address_of("an_value"), 2, "an_value").bytes(), 1), 0);
    }

    std::uint64_t drain() {
        std::uint64_t records = 0;
        for (const auto &ring : rings_)
            records += ring->drain();
        return records;
    }

    /// Expects that no call is recorded from then on.
    void remove() {
        ASSERT_TRUE(eventually([this] { return drain() > 0; }));
        ASSERT_EQ(device_.remove_all(), 0);
        drain();
        const std::uint64_t before = records_and_lost();
        call_neighbours(100);
        EXPECT_EQ(drain(), 0u);
        EXPECT_EQ(records_and_lost(), before);
        EXPECT_FALSE(is_armed("an_value"));
    }

private:
    static constexpr std::uint32_t packet_size = 4096, packets = 16;

    std::uint64_t records_and_lost() const { return hits(device_.return_counts(ARGTRACE_LIST_REMOVED).at(0).counts); }

    RawDevice device_;
    std::vector<std::unique_ptr<RawRing>> rings_;
};

/// Removes probes, the session and the module at once. The sleepers sleep on.
void end_tracing_at_once() {
    std::atomic<bool> done = false;
    std::uint64_t refused = 0;
    std::thread unloader([&] {
        do {
            EXPECT_EQ(unload_module("argtrace"), EAGAIN) << "with calls in flight";
            refused++;
        } while (!done);
    });
    std::thread remover([] {
        const Outcome outcome = run({"argtrace", "rm", "asl_value", "asl_deep", "vfs_read"});
        // `clear` may have been there first.
        if (outcome.status != 0) {
            EXPECT_NE(outcome.err.find("traced"), std::string::npos) << outcome.err;
        }
    });
    std::thread commander([] { EXPECT_NE(run({"rmmod", "argtrace"}).status, 0) << "with calls in flight"; });
    RecordedCalls().remove();
    EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
    remover.join();
    commander.join();
    done = true;
    unloader.join();
    EXPECT_GT(refused, 0u);
    for (const auto &[function, calls] : calls_asleep)
        EXPECT_FALSE(is_armed(function)) << function;
}

/// What the log says last of the calls of a function that are in flight; "" if it says nothing of so many.
std::string sentence_about(const std::string &function, std::uint64_t calls) {
    const std::string begin = "calls of " + function + " have not returned since it is not traced any more: " + std::to_string(calls) + " (in ";
    std::istringstream lines(run({"dmesg"}).out);
    std::string found;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t at = line.find(begin);
        if (at != line.npos)
            found = line.substr(at);
    }
    return found;
}

unsigned number_of_named(const std::string &sentence, const std::vector<pid_t> &pids) {
    return std::count_if(pids.begin(), pids.end(), [&](pid_t pid) {
        const std::string task = "argtrace_vm_tes " + std::to_string(pid);
        return sentence.find(task + ",") != sentence.npos || sentence.find(task + ")") != sentence.npos ||
               sentence.find(task + " and ") != sentence.npos;
    });
}

/// The log names the functions and their tasks.
void expect_sentences(const TasksAsleep &asleep) {
    for (const auto &[function, calls] : calls_asleep) {
        std::string sentence;
        EXPECT_TRUE(eventually([&] { return !(sentence = sentence_about(function, calls)).empty(); })) << function;
        // Up to four calls are named, of asl_deep() as often as it has called itself.
        const unsigned tasks = function == "asl_deep" ? 1 : calls;
        EXPECT_EQ(number_of_named(sentence, asleep.pids()), tasks) << sentence;
    }
}

TEST(SleepersUnderLoad, all_that_ends_tracing_at_once) {
    need_argtrace();
    need_load_module();
    need_neighbours();
    need_module("argtrace_sleepers");
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    const int rounds = is_sanitizer_kernel() ? 2 : is_long_run() ? 20 : 1;
    const Hammers hammers;
    for (int round = 0; round < rounds; round++) {
        SCOPED_TRACE(round);
        need_argtrace();
        follow_all_of_it();
        TasksAsleep first(round);
        ASSERT_TRUE(eventually([] { return calls_in_flight() == calls_asleep; })) << run({"argtrace", "status", "--json"}).out;
        end_tracing_at_once();
        if (round == 0)
            expect_sentences(first);

        // The functions are followed anew while the calls of before have not returned: theirs are counted apart.
        follow_all_of_it();
        TasksAsleep second(round + 1);
        ASSERT_TRUE(eventually([] { return calls_in_flight() == calls_asleep; })) << run({"argtrace", "status", "--json"}).out;
        end_tracing_at_once();
        EXPECT_EQ(unload_module("argtrace"), EAGAIN) << "nobody has the device open";
        EXPECT_TRUE(first.none_has_ended() && second.none_has_ended());
        EXPECT_GE(RawDevice().info().in_flight, 36u);

        ASSERT_TRUE(write_to_sleepers("wake", 1));
        first.expect_results();
        second.expect_results();
        unload_argtrace();
        ASSERT_FALSE(testing::Test::HasFailure());
    }
    need_argtrace();
}

} // namespace
} // namespace vmtest
