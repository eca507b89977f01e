// SPDX-License-Identifier: GPL-2.0-only
// Sessions that record the calls of some processes: these and no others, to the last call, and
// every other call is counted as filtered.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <memory>
#include <thread>

#include "support/actor.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using Pids = std::vector<std::uint32_t>;

std::uint32_t number(const Actor &actor) {
    return static_cast<std::uint32_t>(actor.pid());
}

int set_processes(const RawDevice &device, const Pids &pids, std::uint32_t flags = 0,
                  std::uint32_t *failed = nullptr) {
    argtrace_process_filter filter{};
    filter.size = sizeof(filter);
    filter.flags = flags;
    filter.pids = pids.empty() ? 0 : reinterpret_cast<std::uintptr_t>(pids.data());
    filter.count = static_cast<std::uint32_t>(pids.size());
    const int error = device.call(ARGTRACE_IOC_PROCESSES, &filter);
    if (failed)
        *failed = filter.failed;
    return error;
}

class Processes : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
        ASSERT_EQ(device_.session(), 0);
    }

    int set(const Pids &pids, std::uint32_t flags = 0, std::uint32_t *failed = nullptr) {
        return set_processes(device_, pids, flags, failed);
    }

    Pids list(std::uint32_t *flags = nullptr, std::uint32_t room = 16, std::uint32_t asked = 0) {
        Pids pids(room);
        argtrace_process_filter filter{};
        filter.size = sizeof(filter);
        filter.flags = asked;
        filter.pids = reinterpret_cast<std::uintptr_t>(pids.data());
        filter.count = room;
        EXPECT_EQ(device_.call(ARGTRACE_IOC_PROCESSES_LIST, &filter), 0);
        if (flags)
            *flags = filter.flags;
        pids.resize(filter.count);
        return pids;
    }

    int arm(const std::string &function = "at_four") {
        return device_.add(RawProbe::words(address_of(function), 2).bytes(), 1);
    }

    /// Calls of the one probe since the last time.
    struct Counts {
        std::uint64_t recorded, filtered, hits;
    };
    Counts counts() {
        const argtrace_counts now = device_.counts().at(0);
        const Counts since{now.records - before_.records, now.filtered - before_.filtered,
                           hits(now) - hits(before_)};
        before_ = now;
        return since;
    }
    void expect(std::uint64_t recorded, std::uint64_t filtered, const char *what) {
        const Counts since = counts();
        EXPECT_EQ(since.recorded, recorded) << what;
        EXPECT_EQ(since.filtered, filtered) << what;
        EXPECT_EQ(since.hits, recorded + filtered) << what;
    }

    RawDevice device_;
    argtrace_counts before_{};
};

TEST_F(Processes, calls_of_others_are_filtered) {
    Actor one, two, other;
    const Pids asked{number(one), number(two)};
    ASSERT_EQ(set(asked), 0);
    ASSERT_EQ(arm(), 0);
    one.call(300);
    two.call(40);
    expect(340, 0, "theirs");
    other.call(200);
    call_functions("burst", 7);
    expect(0, 207, "others'");
    one.call_in_thread(50);
    expect(50, 0, "another thread's");
    one.call_in_child(60);
    expect(0, 60, "a child's");
    one.call_in_shell(70);
    expect(70, 0, "of the program that it has become");
    EXPECT_EQ(list(), asked) << "one has ended, and was asked for";
}

TEST_F(Processes, children_are_followed) {
    Actor parent, other;
    ASSERT_EQ(set({number(parent)}, ARGTRACE_PROCESSES_CHILDREN), 0);
    ASSERT_EQ(arm(), 0);
    for (int i = 0; i < 20; i++) {
        parent.call_in_child(5);
        parent.call_in_grandchild(5);
    }
    expect(200, 0, "theirs");
    parent.call_in_thread(3);
    expect(3, 0, "a thread's");
    other.call(1);
    other.call_in_child(2);
    other.call_in_grandchild(3);
    expect(0, 6, "others' children's");
    std::uint32_t flags = 0;
    EXPECT_EQ(list(&flags), Pids{number(parent)});
    EXPECT_EQ(flags, ARGTRACE_PROCESSES_CHILDREN);
}

TEST_F(Processes, they_may_be_others_at_any_time) {
    Actor one, two;
    ASSERT_EQ(set({number(one)}), 0);
    ASSERT_EQ(arm(), 0);
    one.call(10);
    two.call(20);
    expect(10, 20, "the first");
    ASSERT_EQ(set({number(two)}), 0);
    one.call(10);
    two.call(20);
    expect(20, 10, "the second");
    EXPECT_EQ(set({number(one), 0x7fffffff}), ESRCH);
    one.call(10);
    two.call(20);
    expect(20, 10, "a refused set has changed nothing");
    EXPECT_EQ(list(), Pids{number(two)});
}

TEST_F(Processes, that_there_are_any_is_settled_before_the_first_probe) {
    Actor one;
    ASSERT_EQ(arm(), 0);
    EXPECT_EQ(set({number(one)}), EBUSY);
    EXPECT_EQ(set({}), 0) << "as it is";
    one.call(10);
    expect(10, 0, "everybody's");

    ASSERT_EQ(device_.remove_all(), 0);
    ASSERT_EQ(set({number(one)}), 0) << "it is not armed";
    ASSERT_EQ(device_.add(RawProbe::words(address_of("at_four"), 2).bytes(), 1), 0);
    EXPECT_EQ(set({}), EBUSY);
    before_ = device_.counts().at(0);
    one.call(10);
    call_functions("burst", 5);
    expect(10, 5, "filtered");

    ASSERT_EQ(device_.remove_all(), 0);
    ASSERT_EQ(set({}), 0);
    EXPECT_TRUE(list().empty());
    ASSERT_EQ(device_.add(RawProbe::words(address_of("at_four"), 2).bytes(), 1), 0);
    before_ = device_.counts().at(0);
    call_functions("burst", 5);
    expect(5, 0, "everybody's again");
}

TEST_F(Processes, a_number_that_is_used_again_is_another_process) {
    auto one = std::make_unique<Actor>();
    const pid_t pid = one->pid();
    ASSERT_EQ(set({number(*one)}), 0);
    ASSERT_EQ(arm(), 0);
    one->call(10);
    expect(10, 0, "the process");
    one.reset();
    Actor stranger(pid);
    ASSERT_EQ(stranger.pid(), pid);
    stranger.call(20);
    expect(0, 20, "another of its number");
    ASSERT_EQ(set({number(stranger)}), 0);
    stranger.call(30);
    expect(30, 0, "which has been asked for now");
}

TEST_F(Processes, of_two_sessions_each_has_its_own) {
    Actor one, two;
    RawDevice second;
    ASSERT_EQ(second.session(), 0);
    ASSERT_EQ(set({number(one)}), 0);
    ASSERT_EQ(set_processes(second, {number(two)}, ARGTRACE_PROCESSES_CHILDREN), 0);
    ASSERT_EQ(arm(), 0);
    ASSERT_EQ(second.add(RawProbe::words(address_of("at_four"), 2).bytes(), 1), 0);
    one.call(10);
    two.call(20);
    one.call_in_child(30);
    two.call_in_child(40);
    expect(10, 90, "the first's");
    EXPECT_EQ(second.counts().at(0).records, 60u);
    EXPECT_EQ(second.counts().at(0).filtered, 40u);
}

TEST_F(Processes, the_reader_is_filtered_all_the_same) {
    Actor one;
    ASSERT_EQ(device_.reader(ARGTRACE_READER_EXCLUDE_SELF), 0);
    ASSERT_EQ(set({number(one), static_cast<std::uint32_t>(getpid())}), 0);
    ASSERT_EQ(arm(), 0);
    one.call(10);
    call_functions("burst", 20);
    expect(10, 20, "");
}

TEST_F(Processes, all_threads_of_the_reader_are_filtered) {
    // It is a thread that makes the file the reader: its number is not that of the process.
    int error = -1;
    std::thread([&] { error = device_.reader(ARGTRACE_READER_EXCLUDE_SELF); }).join();
    ASSERT_EQ(error, 0);
    ASSERT_EQ(arm(), 0);
    call_functions("burst", 20);
    std::thread([] { call_functions("burst", 30); }).join();
    Actor other;
    other.call(10);
    expect(10, 50, "");
}

TEST_F(Processes, numbers_are_those_of_the_callers_namespace) {
    int numbers[2];
    ASSERT_EQ(pipe(numbers), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        if (unshare(CLONE_NEWPID) != 0)
            _exit(1);
        const pid_t init = fork();
        if (init == 0) {
            // Here it is 1; outside 1 is the init of the machine, and `init` has another number.
            std::uint32_t flags = 0, failed = 0;
            if (set({1, 4000}, 0, &failed) != ESRCH || failed != 1)
                _exit(2);
            if (set({1}) != 0 || list(&flags) != Pids{1} || arm() != 0)
                _exit(3);
            // As records have it, that is what its parent calls it.
            const Pids outside = list(&flags, 16, ARGTRACE_PROCESSES_INITIAL);
            if (outside.size() != 1 || flags != 0 || write(numbers[1], outside.data(), sizeof(outside[0])) != sizeof(outside[0]))
                _exit(5);
            call_functions("burst", 25);
            _exit(0);
        }
        int status = 0;
        if (waitpid(init, &status, 0) != init || status != 0)
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
        if (list().size() != 1 || list()[0] != static_cast<std::uint32_t>(init))
            _exit(4);
        std::uint32_t outside = 0;
        if (read(numbers[0], &outside, sizeof(outside)) != sizeof(outside) || outside != static_cast<std::uint32_t>(init))
            _exit(6);
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0) << WEXITSTATUS(status);
    close(numbers[0]);
    close(numbers[1]);
    call_functions("burst", 5);
    expect(25, 5, "");
}

TEST_F(Processes, changed_while_they_call) {
    constexpr int calls = 4000, rounds = 5;
    Actor one, two;
    const Pids sets[] = {{number(one)}, {number(two)}, {number(one), number(two)}};
    ASSERT_EQ(set(sets[0]), 0);
    ASSERT_EQ(arm(), 0);
    std::atomic<bool> done = false;
    std::atomic<unsigned> changes = 0;
    std::thread changing([&] {
        for (unsigned i = 0; !done; i++) {
            EXPECT_EQ(set(sets[i % 3], i % 2 ? ARGTRACE_PROCESSES_CHILDREN : 0), 0);
            changes++;
        }
    });
    std::thread other([&] {
        for (int i = 0; i < rounds; i++) {
            two.call(calls);
            two.call_in_child(10);
        }
    });
    for (int i = 0; i < rounds; i++)
        one.call(calls);
    other.join();
    ASSERT_TRUE(eventually([&] { return changes > 3; }));
    done = true;
    changing.join();
    const Counts all = counts();
    EXPECT_EQ(all.hits, 2u * rounds * calls + rounds * 10) << changes << " changes";
}

TEST_F(Processes, processes_begin_and_end_while_sets_come_and_go) {
    std::atomic<bool> done = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++) {
        threads.emplace_back([&] {
            while (!done) {
                const pid_t child = fork();
                if (child == 0)
                    _exit(0);
                waitpid(child, nullptr, 0);
            }
        });
    }
    for (int i = 0; i < 30; i++) {
        RawDevice device;
        ASSERT_EQ(device.session("", 4096, 2), 0);
        ASSERT_EQ(set_processes(device, {static_cast<std::uint32_t>(getpid())},
                                ARGTRACE_PROCESSES_CHILDREN),
                  0);
    }
    done = true;
    for (std::thread &thread : threads)
        thread.join();
}

/// The threads of the kernel's that do work_structs, and the one that starts new ones, after which these are called at first.
Pids kernel_workers() {
    Pids pids;
    DIR *proc = opendir("/proc");
    while (const dirent *entry = readdir(proc)) {
        const std::string name = entry->d_name;
        if (!isdigit(name[0]))
            continue;
        std::ifstream in("/proc/" + name + "/comm");
        std::string comm;
        if (in >> comm && (comm.starts_with("kworker") || comm == "kthreadd"))
            pids.push_back(static_cast<std::uint32_t>(std::stoul(name)));
    }
    closedir(proc);
    return pids;
}

TEST_F(Processes, in_interrupts_the_interrupted_process_counts) {
    need_load_module();
    // They end, and others begin, at any time: from the list on until their children are followed none of them may.
    ASSERT_TRUE(eventually([&] {
        const Pids workers = kernel_workers();
        return set(workers, ARGTRACE_PROCESSES_CHILDREN) == 0 && kernel_workers() == workers;
    }));
    ASSERT_EQ(arm("al_process"), 0);
    ASSERT_EQ(arm("al_interrupt"), 0);
    const LoadCalls before = load_calls();
    // Its threads may be done before the first tick, or it may interrupt others first.
    ASSERT_TRUE(eventually([&] {
        run_load({.calls = 2000, .period_ns = 300000, .burst = 5});
        return device_.counts().at(1).records > 0;
    })) << "a timer interrupts them, too";
    const LoadCalls after = load_calls();
    const std::vector<argtrace_counts> counts = device_.counts();
    EXPECT_EQ(hits(counts.at(0)), after.process - before.process);
    EXPECT_EQ(counts.at(0).filtered, 0u) << "kernel threads make these calls";
    EXPECT_EQ(hits(counts.at(1)), after.interrupt - before.interrupt);
}

TEST(ProcessesUnload, the_module_goes_while_they_begin_and_call) {
    for (int round = 0; round < 3; round++) {
        need_argtrace();
        need_test_module();
        Child forking([] {
            for (;;) {
                const pid_t self = getpid(), child = fork();
                if (child == 0) {
                    // One that is left alone would call in a test to come.
                    prctl(PR_SET_PDEATHSIG, SIGKILL);
                    if (getppid() == self)
                        call_functions("burst", 3);
                    _exit(0);
                }
                waitpid(child, nullptr, 0);
            }
        });
        Child reading(hammer_vfs_read);
        {
            RawDevice device;
            ASSERT_EQ(device.session("kept", 4096, 2), 0);
            ASSERT_EQ(set_processes(device, {static_cast<std::uint32_t>(getpid()), 1},
                                    ARGTRACE_PROCESSES_CHILDREN),
                      0);
            ASSERT_EQ(device.add(RawProbe::words(address_of("vfs_read"), 4).bytes() +
                                     RawProbe::words(address_of("at_four"), 2).bytes(),
                                 2),
                      0);
            ASSERT_TRUE(eventually([&] { return device.counts().at(1).filtered > 50; }));
        }
        EXPECT_EQ(unload_module("argtrace"), 0);
        EXPECT_FALSE(is_armed("vfs_read"));
    }
    need_argtrace();
}

} // namespace
} // namespace vmtest
