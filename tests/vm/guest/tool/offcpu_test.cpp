// SPDX-License-Identifier: GPL-2.0-only
// What offcpu says of threads that sleep, read a pipe and compete for a CPU, against what they measured themselves and what
// the kernel counts of each (schedstat, context switches). And what it says when records are lost, or somebody kills it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;
using namespace std::chrono_literals;

constexpr std::uint64_t millisecond = 1000000;

std::uint64_t clock_ns(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec);
}

void sleep_ns(std::uint64_t ns) {
    const timespec time{static_cast<time_t>(ns / 1000000000u), static_cast<long>(ns % 1000000000u)};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

/// What a thread knows of itself when it is about to end.
struct ThreadTruth {
    std::string name;
    std::uint64_t tid = 0;
    std::uint64_t measured = 0;  // ns: how long it took to sleep
    std::uint64_t slept = 0;     // sleeps for which it gave up its CPU
    std::uint64_t longest = 0;   // ns: the longest time from one sleep's end to the next one's
    std::uint64_t run_delay = 0; // ns: runnable without a CPU, as the kernel has added it up
    std::uint64_t preempted = 0; // switches that it did not ask for
};

std::uint64_t this_tid() {
    return static_cast<std::uint64_t>(::syscall(SYS_gettid));
}

/// How many of this thread's sleeps the kernel counted, and the longest round of sleep that it measured.
thread_local std::uint64_t sleeps_that_slept = 0, longest_round_of_sleep = 0;

/// Switches that this thread has asked for.
long wanted_switches() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

std::string folder_of(std::uint64_t tid) {
    return "/proc/self/task/" + std::to_string(tid);
}

/// The lines of both kinds of switches, and what follows them.
std::string switches_of(const std::string &folder) {
    const std::string status = read_file(folder + "/status");
    return status.substr(status.find("voluntary_ctxt_switches:"));
}

ThreadTruth truth_of_this_thread(const std::string &name, std::uint64_t measured) {
    ThreadTruth truth{name, this_tid(), measured, sleeps_that_slept, longest_round_of_sleep};
    const std::string folder = folder_of(truth.tid);
    std::string before, after = switches_of(folder);
    // A switch between the two files would be in one of them.
    do {
        before = after;
        std::uint64_t running = 0;
        std::istringstream(read_file(folder + "/schedstat")) >> running >> truth.run_delay;
        after = switches_of(folder);
    } while (before != after);
    const std::string field = "nonvoluntary_ctxt_switches:";
    truth.preempted = std::stoull(after.substr(after.find(field) + field.size()));
    return truth;
}

/// It sleeps in read(2).
bool is_reading(std::uint64_t tid) {
    const std::string stat = read_file(folder_of(tid) + "/stat");
    return stat.compare(stat.rfind(')') + 1, 3, " S ") == 0 &&
           read_file(folder_of(tid) + "/syscall").starts_with(std::to_string(SYS_read) + " ");
}

/// A process of threads, which begin when it is told, and write down what they know.
class Workers {
public:
    using Body = std::function<std::uint64_t()>; // returns what it measured

    explicit Workers(const std::vector<std::pair<std::string, Body>> &bodies) {
        EXPECT_EQ(::pipe2(go_, O_CLOEXEC), 0);
        EXPECT_EQ(::pipe2(result_, O_CLOEXEC), 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            char go;
            if (::read(go_[0], &go, 1) == 1)
                run_all(bodies);
            ::_exit(0);
        }
    }
    ~Workers() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        for (const int fd : {go_[0], go_[1], result_[0], result_[1]})
            ::close(fd);
    }
    Workers(const Workers &) = delete;
    Workers &operator=(const Workers &) = delete;

    pid_t pid() const { return pid_; }
    void go() { EXPECT_EQ(::write(go_[1], "g", 1), 1); }

    /// What they wrote down, by name, once all have ended.
    std::map<std::string, ThreadTruth> truth() {
        std::string text;
        char buffer[4096];
        while (text.find("end\n") == std::string::npos) {
            const ssize_t got = ::read(result_[0], buffer, sizeof(buffer));
            if (got <= 0)
                break;
            text.append(buffer, static_cast<std::size_t>(got));
        }
        std::map<std::string, ThreadTruth> all;
        std::istringstream lines(text);
        ThreadTruth one;
        while (lines >> one.name && one.name != "end") {
            lines >> one.tid >> one.measured >> one.slept >> one.longest >> one.run_delay >> one.preempted;
            all[one.name] = one;
        }
        return all;
    }

private:
    void run_all(const std::vector<std::pair<std::string, Body>> &bodies) {
        std::vector<ThreadTruth> truths(bodies.size());
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < bodies.size(); ++i)
            threads.emplace_back([&truths, &bodies, i] {
                ::pthread_setname_np(::pthread_self(), bodies[i].first.c_str());
                const std::uint64_t measured = bodies[i].second();
                truths[i] = truth_of_this_thread(bodies[i].first, measured);
            });
        for (std::thread &thread : threads)
            thread.join();
        std::ostringstream text;
        for (const ThreadTruth &one : truths)
            text << one.name << ' ' << one.tid << ' ' << one.measured << ' ' << one.slept << ' ' << one.longest << ' '
                 << one.run_delay << ' ' << one.preempted << '\n';
        text << "end\n";
        const std::string all = text.str();
        if (::write(result_[1], all.data(), all.size()) < 0)
            ::_exit(1);
    }

    int go_[2], result_[2];
    pid_t pid_;
};

// A virtual CPU may lose its own between where a sleep's timer is set and where the thread gives up the CPU: where the time is over by
// then, it does not sleep at all.
Workers::Body sleeper(unsigned times, std::uint64_t ns) {
    return [times, ns] {
        const std::uint64_t start = clock_ns(CLOCK_MONOTONIC);
        std::uint64_t last = start;
        for (unsigned i = 0; i < times; ++i) {
            const long before = wanted_switches();
            sleep_ns(ns);
            sleeps_that_slept += wanted_switches() != before;
            const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
            longest_round_of_sleep = std::max(longest_round_of_sleep, now - last);
            last = now;
        }
        return last - start;
    };
}

/// Keeps CPU 0 busy until it has had that much of it.
Workers::Body spinner(std::uint64_t ns) {
    return [ns] {
        pin_to_cpu(0);
        while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < ns) {
        }
        return std::uint64_t{0};
    };
}

struct OffCpuAnswer {
    std::vector<json> rows;
    json totals;
};

OffCpuAnswer parse_off_cpu(const Outcome &outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    OffCpuAnswer answer;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
        json object = json::parse(line, nullptr, false);
        EXPECT_FALSE(object.is_discarded()) << line;
        (object.contains("left_out") ? answer.totals : answer.rows.emplace_back()) = object;
    }
    EXPECT_TRUE(answer.totals.is_object()) << outcome.out;
    return answer;
}

std::vector<json> rows_of(const OffCpuAnswer &answer, std::uint64_t tid) {
    std::vector<json> rows;
    for (const json &row : answer.rows)
        if (row["key"]["tid"] == tid)
            rows.push_back(row);
    return rows;
}

/// The rows of `tid` that slept in such a function, where it may also have been preempted.
std::vector<json> sleeps_of(const OffCpuAnswer &answer, std::uint64_t tid, const std::string &function) {
    std::vector<json> rows;
    for (const json &row : rows_of(answer, tid))
        if (row["key"]["state"] == "S" && row["stack"].dump().find(function) != std::string::npos)
            rows.push_back(row);
    return rows;
}

std::uint64_t sum_of(const std::vector<json> &rows, const char *field) {
    std::uint64_t sum = 0;
    for (const json &row : rows)
        sum += row[field].get<std::uint64_t>();
    return sum;
}

/// It waits in poll(2) for something to do, which is ppoll(2) on arm64.
bool is_polling(pid_t pid) {
#ifdef SYS_poll
    constexpr long poll_number = SYS_poll;
#else
    constexpr long poll_number = SYS_ppoll;
#endif
    return read_file("/proc/" + std::to_string(pid) + "/syscall").starts_with(std::to_string(poll_number) + " ");
}

/// `words`: options of offcpu.
std::unique_ptr<Background> start_following(std::vector<std::string> words) {
    need_argtrace();
    words.insert(words.begin(), {"argtrace", "offcpu"});
    auto command = std::make_unique<Background>(words);
    EXPECT_TRUE(eventually([&] {
        return command->err_so_far().find("until Ctrl-C") != std::string::npos || !command->is_running();
    }));
    // It looks at what comes from a moment after that on, and it waits for the first time when that is past.
    EXPECT_TRUE(eventually([&] { return !command->is_running() || is_polling(command->pid()); }));
    EXPECT_TRUE(command->is_running()) << command->err_so_far();
    return command;
}

std::unique_ptr<Background> start_off_cpu(std::vector<std::string> words) {
    words.insert(words.begin(), "--json");
    return start_following(words);
}

TEST(OffCpu, threads_that_sleep_and_read) {
    int pipe[2];
    ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
    constexpr std::uint64_t blocked_in_pipe = 120 * millisecond;
    struct Sleeps {
        const char *name;
        unsigned times;
        std::uint64_t ns;
    };
    const std::vector<Sleeps> sleeps{{"oc-5", 20, 5 * millisecond}, {"oc-20", 10, 20 * millisecond}, {"oc-50", 6, 50 * millisecond}};
    std::vector<std::pair<std::string, Workers::Body>> bodies;
    for (const Sleeps &one : sleeps)
        bodies.emplace_back(one.name, sleeper(one.times, one.ns));
    std::atomic<std::uint64_t> reader_tid = 0;
    bodies.emplace_back("oc-reader", [&] {
        reader_tid = this_tid();
        const std::uint64_t start = clock_ns(CLOCK_MONOTONIC);
        char byte;
        const ssize_t got = ::read(pipe[0], &byte, 1);
        return got == 1 ? clock_ns(CLOCK_MONOTONIC) - start : 0;
    });
    bodies.emplace_back("oc-writer", [&] {
        while (reader_tid == 0 || !is_reading(reader_tid))
            sleep_ns(millisecond);
        sleep_ns(blocked_in_pipe);
        return static_cast<std::uint64_t>(::write(pipe[1], "x", 1));
    });
    Workers workers(bodies);
    const auto command =
        start_off_cpu({"--by", "comm,tid,state", "--wakers", "-p", std::to_string(workers.pid())});
    workers.go();
    std::map<std::string, ThreadTruth> truth = workers.truth();
    ASSERT_EQ(truth.size(), bodies.size());
    std::this_thread::sleep_for(100ms); // the last of them ends, and so does argtrace
    const OffCpuAnswer answer = parse_off_cpu(command->wait());

    for (const Sleeps &one : sleeps) {
        const ThreadTruth &thread = truth[one.name];
        const std::vector<json> rows = sleeps_of(answer, thread.tid, "do_nanosleep");
        EXPECT_EQ(sum_of(rows, "waits"), thread.slept) << one.name;
        EXPECT_GT(thread.slept, one.times / 2) << one.name;
        const std::uint64_t time = sum_of(rows, "blocked") + sum_of(rows, "runnable");
        EXPECT_LE(time, thread.measured) << one.name << ": more than it took";
        EXPECT_GE(time, thread.slept * one.ns * 9 / 10) << one.name;
        for (const json &row : rows) {
            EXPECT_EQ(row["key"]["comm"], one.name);
            EXPECT_EQ(row["waker"]["comm"], "[hardirq]") << row;
            EXPECT_NE(row["waker"]["stack"].dump().find("hrtimer"), std::string::npos) << row;
        }
    }

    const ThreadTruth &reader = truth["oc-reader"];
    const std::vector<json> read = sleeps_of(answer, reader.tid, "pipe_read");
    ASSERT_EQ(sum_of(read, "waits"), 1u);
    EXPECT_LE(sum_of(read, "blocked") + sum_of(read, "runnable"), reader.measured);
    EXPECT_GE(sum_of(read, "blocked"), blocked_in_pipe);
    EXPECT_EQ(read[0]["waker"]["comm"], "oc-writer");
    EXPECT_NE(read[0]["waker"]["stack"].dump().find("pipe_write"), std::string::npos) << read[0];

    EXPECT_EQ(answer.totals["left_out"]["lost"], 0u) << answer.totals;
    EXPECT_EQ(answer.totals["left_out"]["incomplete"], 0u) << answer.totals;
    std::set<std::uint64_t> threads{static_cast<std::uint64_t>(workers.pid())};
    for (const auto &[name, thread] : truth)
        threads.insert(thread.tid);
    for (const json &row : answer.rows)
        EXPECT_TRUE(threads.contains(row["key"]["tid"].get<std::uint64_t>())) << "of another process: " << row;
    ::close(pipe[0]);
    ::close(pipe[1]);
}

/// Whether offcpu's sum of the waits of a thread for a CPU is what the kernel has added up itself, as far as that can be compared.
bool waits_as_the_kernel_says(const OffCpuAnswer &answer, const ThreadTruth &thread) {
    const std::vector<json> rows = rows_of(answer, thread.tid);
    std::uint64_t preempted = 0;
    for (const json &row : rows)
        if (row["key"]["state"] == "R") {
            preempted += row["waits"].get<std::uint64_t>();
            EXPECT_EQ(row["blocked"], 0u) << row;
        }
    // And once as a new task; there may be more between what it wrote down and its end, of any length.
    EXPECT_GE(preempted, thread.preempted) << thread.name;
    const auto runnable = static_cast<double>(sum_of(rows, "runnable"));
    const auto expected = static_cast<double>(thread.run_delay);
    return preempted <= thread.preempted + 5 && expected >= 50.0 * millisecond &&
           runnable >= 0.95 * expected - 5.0 * millisecond && runnable <= 1.05 * expected + 5.0 * millisecond;
}

// The kernel looks at its clock before it comes to the tracepoint, and a virtual CPU may lose its own in between for as long as its
// host likes; and a thread may have to wait once more when it has written down how long it waited. One round of ten has to agree, in
// which neither happened.
TEST(OffCpu, threads_that_compete_wait_as_long_as_the_kernel_says) {
    bool agree = false;
    for (int round = 0; round < 10 && !agree; ++round) {
        constexpr std::uint64_t spun = 150 * millisecond;
        Workers workers({{"oc-spin1", spinner(spun)}, {"oc-spin2", spinner(spun)}});
        const auto command = start_off_cpu({"--by", "comm,tid,state", "-p", std::to_string(workers.pid())});
        workers.go();
        std::map<std::string, ThreadTruth> truth = workers.truth();
        ASSERT_EQ(truth.size(), 2u);
        std::this_thread::sleep_for(100ms); // the last of them ends, and so does argtrace
        const OffCpuAnswer answer = parse_off_cpu(command->wait());
        EXPECT_EQ(answer.totals["left_out"]["lost"], 0u) << answer.totals;
        agree = waits_as_the_kernel_says(answer, truth["oc-spin1"]);
        agree = waits_as_the_kernel_says(answer, truth["oc-spin2"]) && agree;
    }
    EXPECT_TRUE(agree);
}

/// Pairs of processes that hand a byte to and fro, and others that begin and end.
class SwitchLoad {
public:
    SwitchLoad() {
        for (int i = 0; i < 3; ++i)
            children_.push_back(std::make_unique<Child>([] {
                int there[2], back[2];
                if (::pipe(there) != 0 || ::pipe(back) != 0)
                    ::_exit(1);
                char byte = 'x';
                if (::fork() == 0) {
                    ::close(there[1]);
                    ::close(back[0]);
                    while (::read(there[0], &byte, 1) == 1 && ::write(back[1], &byte, 1) == 1) {
                    }
                    ::_exit(0);
                }
                for (;;)
                    if (::write(there[1], &byte, 1) != 1 || ::read(back[0], &byte, 1) != 1)
                        ::_exit(1);
            }));
        children_.push_back(std::make_unique<Child>([] {
            for (;;) {
                const pid_t child = ::fork();
                if (child == 0)
                    ::_exit(0);
                ::waitpid(child, nullptr, 0);
            }
        }));
    }

private:
    std::vector<std::unique_ptr<Child>> children_;
};

/// Context switches of all CPUs since the boot.
std::uint64_t switches_of_the_machine() {
    const std::string stat = read_file("/proc/stat");
    return std::stoull(stat.substr(stat.find("\nctxt ") + 6));
}

TEST(OffCpu, everything_fits_together_under_load) {
    SwitchLoad load;
    const auto command = start_off_cpu({"--by", "tid,state", "--no-stack", "--buffer", "16M"});
    const std::uint64_t before = switches_of_the_machine();
    std::this_thread::sleep_for(is_sanitizer_kernel() ? 1s : 3s);
    // At most every other one is to an idle task. A slow machine takes longer for as many.
    EXPECT_TRUE(eventually([before] { return switches_of_the_machine() > before + 2000; }));
    const OffCpuAnswer answer = parse_off_cpu(command->end(SIGINT));
    const json &totals = answer.totals;
    EXPECT_GT(totals["waits"].get<std::uint64_t>(), 500u) << totals;
    EXPECT_EQ(totals["records"]["lost"], 0u) << totals;
    EXPECT_EQ(totals["left_out"]["lost"], 0u) << totals;
    EXPECT_EQ(totals["left_out"]["incomplete"], 0u) << totals;
    std::uint64_t waits = 0, blocked = 0, runnable = 0;
    for (const json &row : answer.rows) {
        EXPECT_NE(row["key"]["tid"], 0u) << "the idle task: " << row;
        EXPECT_NE(row["key"]["state"], "X") << row;
        waits += row["waits"].get<std::uint64_t>();
        blocked += row["blocked"].get<std::uint64_t>();
        runnable += row["runnable"].get<std::uint64_t>();
    }
    EXPECT_EQ(totals["waits"], waits);
    EXPECT_EQ(totals["blocked"], blocked);
    EXPECT_EQ(totals["runnable"], runnable);
    // Two tasks of each pair, of which one waits, most of the time.
    EXPECT_GT(blocked + runnable, 1000 * millisecond);
}

constexpr auto stopped = 1000ms;

struct StoppedFollower {
    Outcome outcome;
    std::uint64_t longest = 0; ///< ns: the longest time that one sleep took, as the tasks have measured it
};

/// Has somebody follow two tasks that sleep for 5 ms at a time, and stops it meanwhile.
StoppedFollower follow_with_a_stop(std::vector<std::string> words) {
    Workers workers({{"oc-short", sleeper(600, 5 * millisecond)}, {"oc-brief", sleeper(600, 5 * millisecond)}});
    words.insert(words.end(), {"--no-stack", "--buffer", "16K"});
    const auto command = start_following(words);
    StoppedFollower follower;
    {
        SwitchLoad load;
        workers.go();
        std::this_thread::sleep_for(500ms);
        EXPECT_EQ(::kill(command->pid(), SIGSTOP), 0);
        std::this_thread::sleep_for(stopped);
        EXPECT_EQ(::kill(command->pid(), SIGCONT), 0);
        std::this_thread::sleep_for(1000ms);
        follower.outcome = command->end(SIGINT);
    }
    for (const auto &[name, thread] : workers.truth())
        follower.longest = std::max(follower.longest, thread.longest);
    EXPECT_GT(follower.longest, 0u);
    return follower;
}

/// `longest`: the sleeps of the tasks have taken no longer. On a machine that stands still for a while they do.
void expect_no_waits_of_the_stop(const OffCpuAnswer &answer, std::uint64_t longest) {
    const std::uint64_t most = std::max(700 * millisecond, longest + millisecond);
    const json &totals = answer.totals;
    EXPECT_GT(totals["records"]["lost"].get<std::uint64_t>(), 0u) << totals;
    EXPECT_GT(totals["left_out"]["lost"].get<std::uint64_t>(), 0u) << totals;
    for (const json &row : answer.rows) {
        const std::string comm = row["key"]["comm"];
        if (comm == "oc-short" || comm == "oc-brief") {
            EXPECT_LT(row["longest"].get<std::uint64_t>(), most)
                << "it slept 5 ms at a time: " << row;
        }
    }
}

// While nobody reads, records are lost: a wait that lasts from before to after that would be one that nobody has waited.
TEST(OffCpu, lost_records_make_no_waits) {
    const StoppedFollower follower = follow_with_a_stop({"--json", "--by", "comm,tid"});
    expect_no_waits_of_the_stop(parse_off_cpu(follower.outcome), follower.longest);
}

constexpr const char *waits_path = "/tmp/waits.dat";

OffCpuAnswer recorded_answer(std::vector<std::string> words) {
    words.insert(words.begin(), {"argtrace", "offcpu", "--in", waits_path, "--json"});
    return parse_off_cpu(run(words));
}

TEST(OffCpu, lost_records_make_no_waits_of_a_recording) {
    const StoppedFollower follower = follow_with_a_stop({"-o", waits_path});
    EXPECT_EQ(follower.outcome.status, 0) << follower.outcome.err;
    expect_no_waits_of_the_stop(recorded_answer({"--by", "comm,tid", "--no-stack"}), follower.longest);
    ::unlink(waits_path);
}

struct SwitchTotal {
    std::uint64_t waits = 0, time = 0;
};

/// What the switches of a recording come to, by thread, as `report` shows them: from where a thread of the process leaves its CPU, or
/// is new, to where it is switched to.
std::map<std::uint64_t, SwitchTotal> totals_of_switches(std::uint64_t pid) {
    constexpr std::uint64_t dead = 0x80;
    std::map<std::uint64_t, SwitchTotal> totals;
    std::map<std::uint64_t, std::uint64_t> left; // when
    const Outcome outcome = run({"argtrace", "report", "--json", waits_path});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    for (const json &event : json_lines(outcome.out)) {
        const json &args = event["args"];
        const auto ts = event["ts"].get<std::uint64_t>();
        if (event["func"] == "t:sched:sched_wakeup_new")
            left[args["p->pid"].get<std::uint64_t>()] = ts;
        if (event["func"] != "t:sched:sched_switch")
            continue;
        const auto next = args["next->pid"].get<std::uint64_t>();
        if (args["next->tgid"] == pid && left.contains(next)) {
            ++totals[next].waits;
            totals[next].time += ts - left[next];
            left.erase(next);
        }
        if (event["pid"] == pid && !(args["prev_state"].get<std::uint64_t>() & dead))
            left[event["tid"].get<std::uint64_t>()] = ts;
    }
    return totals;
}

TEST(OffCpu, a_recording_tells_all_of_them) {
    constexpr unsigned times = 20;
    constexpr std::uint64_t ns = 5 * millisecond;
    Workers workers({{"oc-a", sleeper(times, ns)}, {"oc-b", sleeper(times, 2 * ns)}, {"oc-spin", spinner(50 * millisecond)}});
    const auto pid = static_cast<std::uint64_t>(workers.pid());
    const auto command = start_following({"-o", waits_path, "--wakers", "-p", std::to_string(pid)});
    workers.go();
    std::map<std::string, ThreadTruth> truth = workers.truth();
    ASSERT_EQ(truth.size(), 3u);
    const Outcome recorded = command->end(SIGINT);
    EXPECT_EQ(recorded.status, 0) << recorded.err;

    const OffCpuAnswer answer = recorded_answer({"--by", "comm,tid,state", "--wakers"});
    EXPECT_EQ(answer.totals["left_out"]["lost"], 0u) << answer.totals;
    EXPECT_EQ(answer.totals["left_out"]["incomplete"], 0u) << answer.totals;
    std::map<std::uint64_t, SwitchTotal> switches = totals_of_switches(pid);
    for (const auto &[name, thread] : truth) {
        const std::vector<json> rows = rows_of(answer, thread.tid);
        EXPECT_GT(switches[thread.tid].waits, 0u) << name;
        EXPECT_EQ(sum_of(rows, "waits"), switches[thread.tid].waits) << name;
        EXPECT_EQ(sum_of(rows, "blocked") + sum_of(rows, "runnable"), switches[thread.tid].time) << name;
    }
    for (const auto &[name, each] : {std::pair{"oc-a", ns}, std::pair{"oc-b", 2 * ns}}) {
        const std::vector<json> rows = sleeps_of(answer, truth[name].tid, "do_nanosleep");
        EXPECT_EQ(sum_of(rows, "waits"), truth[name].slept) << name;
        EXPECT_GT(truth[name].slept, times / 2) << name;
        const std::uint64_t time = sum_of(rows, "blocked") + sum_of(rows, "runnable");
        EXPECT_LE(time, truth[name].measured) << name << ": more than it took";
        EXPECT_GE(time, truth[name].slept * each * 9 / 10) << name;
        for (const json &row : rows)
            EXPECT_EQ(row["waker"]["comm"], "[hardirq]") << row;
    }
    // The same recording, with filters.
    const OffCpuAnswer sleeps = recorded_answer({"--by", "tid", "--no-stack", "--state", "S", "--min", "4ms"});
    EXPECT_GT(sleeps.totals["waits"].get<std::uint64_t>(), 0u);
    for (const json &row : sleeps.rows)
        EXPECT_GE(row["longest"].get<std::uint64_t>(), 4 * millisecond) << row;
    EXPECT_EQ(sleeps.totals["waits"].get<std::uint64_t>() + sleeps.totals["unwanted"].get<std::uint64_t>(),
              answer.totals["waits"].get<std::uint64_t>());
    ::unlink(waits_path);
}

TEST(OffCpu, a_killed_reader_leaves_nothing_and_the_module_goes_under_load) {
    SwitchLoad load;
    const auto command = start_off_cpu({"--wakers"});
    EXPECT_NE(unload_module("argtrace"), 0) << "it is in use";
    EXPECT_TRUE(command->is_running());
    command->end(SIGKILL);
    unload_argtrace();
    need_argtrace();
    // And again, with an end at any moment.
    for (int i = 0; i < 3; ++i) {
        need_argtrace();
        Background brief({"argtrace", "offcpu", "--json", "--wakers"});
        std::this_thread::sleep_for(std::chrono::milliseconds(100 * i));
        brief.end(SIGKILL);
        unload_argtrace();
    }
    need_argtrace();
}

} // namespace
} // namespace vmtest
