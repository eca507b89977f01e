// SPDX-License-Identifier: GPL-2.0-only
// Several processes do at random what users do with argtrace, and to it: add, remove, trace, record,
// snapshot, kill, and unload and load both argtrace and the modules that it traces. Nothing hangs, the
// counts of sessions that are observed from beginning to end add up, and the module can be unloaded
// at the end. scripts/vm checks that the kernel log is clean.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <random>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

constexpr unsigned nr_workers = 4;

using Words = std::vector<std::string>;

/// Counters of all workers, in memory that they share.
struct Met {
    std::atomic<unsigned> commands, refused, killed, unloads, lives;
    std::atomic<std::uint64_t> calls;
};

/// Held by a worker that needs the modules to stay, or that unloads them.
class ModuleLock {
public:
    ModuleLock() : fd_(open("/tmp/stress.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        EXPECT_EQ(flock(fd_, LOCK_EX), 0);
    }
    ~ModuleLock() { close(fd_); }
    ModuleLock(const ModuleLock &) = delete;
    ModuleLock &operator=(const ModuleLock &) = delete;

private:
    int fd_;
};

/// One process of the stress test.
class Worker {
public:
    Worker(std::uint64_t seed, unsigned number, Met &met)
        : random_(seed), file_("/tmp/stress." + std::to_string(number) + ".dat"), met_(met) {}

    ~Worker() { unlink(file_.c_str()); }

    void step() {
        switch (random(18)) {
        case 0:
        case 1:
            return add();
        case 2:
            return tool({"argtrace", "rm", function()});
        case 3:
            return tool({"argtrace", "clear"});
        case 4:
            return tool({"argtrace", "status", "--json"});
        case 5:
            return trace();
        case 6:
            return record();
        case 7:
            return snapshot();
        case 8:
            return on_load();
        case 9:
        case 10:
            return whole_life();
        case 11:
            return change_argtrace();
        case 12:
            return change_helpers();
        case 13:
        case 14:
            return aggregate();
        default:
            return call_functions();
        }
    }

    /// Observes a session from before its first call until after its last: every call is accounted for.
    void whole_life() {
        const ModuleLock lock;
        need_argtrace();
        need_load_module();
        const std::uint32_t packets = 2u << random(4);
        const bool flight = random(2);
        RawDevice device;
        ASSERT_EQ(device.session("", 4096, packets, static_cast<std::uint32_t>(random(4)),
                                 flight ? ARGTRACE_SESSION_FLIGHT : 0),
                  0);
        std::vector<std::unique_ptr<RawRing>> rings;
        if (!flight) {
            ASSERT_EQ(device.reader(), 0);
        }
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
            rings.push_back(
                std::make_unique<RawRing>(device, cpu, 4096, packets,
                                          flight ? RawRing::Mode::flight : RawRing::Mode::stream));

        const std::vector<std::byte> probes =
            RawProbe::words(address_of("al_process"), 3).bytes() +
            RawProbe::words(address_of("al_interrupt"), 3).bytes() +
            RawProbe::words(address_of("al_nmi"), 3).bytes();
        ASSERT_EQ(device.add(probes, 3), 0);
        const LoadCalls before = load_calls();
        std::map<std::uint32_t, std::uint64_t> read;
        std::uint64_t missed = 0, there = 0;
        for (std::uint64_t rounds = 1 + random(3); rounds; rounds--) {
            run_load({static_cast<unsigned>(20 + random(300)), 300000, 3, 40, 3});
            there = 0;
            for (const auto &ring : rings) {
                for (const RawRecord &record : flight ? ring->snapshot(missed) : ring->records())
                    read[record.id]++, there++;
            }
        }
        const LoadCalls after = load_calls();
        const std::vector<argtrace_counts> counts = device.counts();
        ASSERT_EQ(counts.size(), 3u);
        const std::uint64_t calls[] = {after.process - before.process,
                                       after.interrupt - before.interrupt, after.nmi - before.nmi};
        std::uint64_t records = 0, overwritten = 0;
        for (std::size_t i = 0; i < 3; i++) {
            EXPECT_EQ(hits(counts[i]), calls[i]);
            records += counts[i].records;
            met_.calls += calls[i];
            if (!flight) {
                EXPECT_EQ(read[counts[i].id], counts[i].records);
            }
        }
        for (const auto &ring : rings)
            overwritten += ring->control()->overwritten;
        if (flight) {
            EXPECT_EQ(there + overwritten, records);
        }
        met_.lives++;
    }

private:
    std::uint64_t random(std::uint64_t below) { return random_() % below; }
    const char *one_of(std::initializer_list<const char *> choices) {
        return choices.begin()[random(choices.size())];
    }

    std::string function() {
        return one_of({"at_four", "at_two", "at_eight", "at_large", "argtrace_test:at_*",
                       "al_process", "vfs_read", "vfs_write", "vmlinux:vfs_*", "ksys_*",
                       "try_to_wake_up", "no_such_function", "t:sched:sched_switch",
                       "t:task:*", "s:openat", "s:read*"});
    }

    /// The same, or one that says more than which function.
    std::string spec() {
        if (random(2))
            return function();
        return one_of({"vfs_read=", "al_process=", "at_*=", "vfs_read(*pos, count)=",
                       "vfs_read(*pos@ret)= if ret > 0 || duration > 1us",
                       "vfs_read(count) if count > 100", "vfs_open(path(path))",
                       "t:sched:sched_switch(prev->comm, next->comm as to)",
                       "s:openat(str(filename), flags)=", "vfs_write(stack)"});
    }

    /// Runs the tool to its end or kills it before: it may fail, but only with a sentence.
    void tool(const Words &words) {
        met_.commands++;
        if (random(6) == 0) {
            Background command(words);
            usleep(static_cast<useconds_t>(random(400000)));
            command.end(SIGKILL);
            met_.killed++;
            return;
        }
        const Outcome outcome = run(words);
        if (outcome.status == 0)
            return;
        met_.refused++;
        EXPECT_EQ(outcome.status, 1) << testing::PrintToString(words) << ": " << outcome.err;
        EXPECT_NE(outcome.err.find("argtrace: "), std::string::npos)
            << testing::PrintToString(words) << ": " << outcome.err;
        for (const char *never : {"Bad address", "Invalid argument", "Bad file descriptor"})
            EXPECT_EQ(outcome.err.find(never), std::string::npos)
                << testing::PrintToString(words) << ": " << outcome.err;
    }

    void add() {
        Words words{"argtrace", "add"};
        if (random(3) == 0)
            words.push_back("--flight");
        for (const char *word : {"--buffer", one_of({"8K", "64K", "1M"})})
            words.push_back(word);
        if (random(4) == 0) {
            for (const char *word : {"--encoding", "named"})
                words.push_back(word);
        }
        if (random(4) == 0)
            words.push_back("--stack");
        for (std::uint64_t i = 1 + random(2); i; i--)
            words.push_back(spec());
        tool(words);
    }

    void trace() {
        Words words{"argtrace", "trace", "--json", "--duration", "0.3"};
        if (random(2))
            words.push_back(spec());
        tool(words);
    }

    void aggregate() {
        switch (random(4)) {
        case 0:
            return tool({"argtrace", "count", "--json", "--duration", "0.3", "--by",
                         one_of({"comm", "cpu", "func,pid"}), function()});
        case 1:
            return tool({"argtrace", "hist", "--json", "--duration", "0.3", "vfs_read(count)"});
        case 2:
            return tool({"argtrace", "latency", "--json", "--duration", "0.3", "vfs_*"});
        default:
            return tool({"argtrace", "stacks", "--json", "--duration", "0.3", function()});
        }
    }

    void record() {
        tool({"argtrace", "record", "-o", file_, spec(), "--", "sh", "-c",
              "echo 300 >/sys/kernel/debug/argtrace_test/burst; ls -l /proc/self >/dev/null"});
        if (access(file_.c_str(), F_OK) == 0)
            tool({"argtrace", "report", "--stats", file_});
    }

    void snapshot() { tool({"argtrace", "snapshot", "-o", file_}); }

    void on_load() {
        if (module_is_loaded("argtrace_onload"))
            unload_module("argtrace_onload");
        else
            tool({"argtrace", "add", "--on-load", "/root/argtrace_onload.ko", "*"});
        load_module("/root/argtrace_onload.ko");
    }

    /// Named sessions do not pin the module, open files do.
    void change_argtrace() {
        const ModuleLock lock;
        for (int tries = 0; tries < 40; tries++) {
            const int error = unload_module("argtrace");
            if (error == 0)
                met_.unloads++;
            if (error == 0 || error == ENOENT)
                break;
            EXPECT_TRUE(error == EAGAIN || error == EBUSY) << strerror(error);
            usleep(20000);
        }
        usleep(static_cast<useconds_t>(random(100000)));
        if (!module_is_loaded("argtrace")) {
            EXPECT_EQ(load_module(argtrace_module()), 0);
        }
    }

    /// Traced functions go with their module, and come back.
    void change_helpers() {
        const ModuleLock lock;
        const std::string name = one_of({"argtrace_test", "argtrace_load"});
        if (unload_module(name) == 0) {
            EXPECT_EQ(load_module("/root/" + name + ".ko"), 0);
        }
    }

    /// Another worker may just have unloaded the helper module.
    void call_functions() {
        const std::string file = "/sys/kernel/debug/argtrace_test/";
        const int fd = open((file + one_of({"burst", "run", "storm", "awkward"})).c_str(),
                            O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            return;
        const std::string count = std::to_string(1 + random(60));
        [[maybe_unused]] const ssize_t n = write(fd, count.data(), count.size());
        close(fd);
    }

    std::mt19937_64 random_;
    std::string file_;
    Met &met_;
};

class Stress : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
        need_load_module();
        run({"argtrace", "clear"});
    }
};

/// The body of a worker's process; its failures are printed to stdout, as ours are.
pid_t start(std::uint64_t seed, unsigned number, std::uint64_t steps, Met &met) {
    const pid_t pid = fork();
    EXPECT_GE(pid, 0);
    if (pid != 0)
        return pid;
    {
        Worker worker(seed, number, met);
        if (number == 0) // so that there is one session however few the steps are
            worker.whole_life();
        while (steps-- && !testing::Test::HasFailure())
            worker.step();
    }
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure());
}

TEST_F(Stress, by_many_processes) {
    const std::uint64_t seed = test_seed(), steps = stress_steps(120);
    std::cout << "seed " << seed << ", " << steps << " steps" << std::endl;
    void *shared =
        mmap(nullptr, sizeof(Met), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    Met &met = *new (shared) Met{};
    std::vector<pid_t> workers;
    for (unsigned number = 0; number < nr_workers; number++)
        workers.push_back(start(seed + number, number, steps / nr_workers, met));
    for (const pid_t pid : workers) {
        int status = 0;
        EXPECT_EQ(waitpid(pid, &status, 0), pid);
        EXPECT_EQ(status, 0) << "seed " << seed;
    }
    std::cout << met.commands << " commands, " << met.refused << " refused, " << met.killed
              << " killed; unloaded " << met.unloads << " times; " << met.lives
              << " sessions from begin to end with " << met.calls << " calls\n";
    EXPECT_GT(met.lives, 0u);
    munmap(shared, sizeof(Met));

    need_argtrace();
    EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
    expect_nothing_left();
    unload_module("argtrace_onload");
    EXPECT_EQ(unload_module("argtrace"), 0);
    need_argtrace();
    need_test_module();
    need_load_module();
}

} // namespace
} // namespace vmtest
