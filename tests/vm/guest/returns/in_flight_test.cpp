// SPDX-License-Identifier: GPL-2.0-only
// Which calls are in flight, as they are found on the stacks of tasks: those that are there, once each, and no others.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/mixed_load.h"
#include "support/neighbours.h"

namespace vmtest {
namespace {

RawProbe sleep_probe() {
    RawProbe probe = RawProbe::words(address_of("an_sleep"), 1, "an_sleep");
    probe.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0);
    return probe;
}

struct InFlight : argtrace_in_flight {
    std::vector<argtrace_in_flight_call> calls;
};

/// Expects it to succeed.
InFlight in_flight(const RawDevice &device, std::size_t room = 4096) {
    InFlight list{};
    list.calls.resize(room);
    argtrace_in_flight &request = list;
    request.size = sizeof(request);
    request.buffer = reinterpret_cast<std::uintptr_t>(list.calls.data());
    request.length = room * sizeof(argtrace_in_flight_call);
    EXPECT_EQ(device.call(ARGTRACE_IOC_IN_FLIGHT, &request), 0);
    EXPECT_LE(request.count, room);
    list.calls.resize(std::min<std::size_t>(request.count, room));
    return list;
}

/// Processes that sleep in an_sleep() until they are killed.
class SleepingProcesses {
public:
    static constexpr unsigned milliseconds = 100000;

    explicit SleepingProcesses(unsigned count) {
        for (unsigned i = 0; i < count; i++) {
            const pid_t pid = fork();
            if (pid == 0) {
                close_range(STDERR_FILENO + 1, ~0u, 0); // the device is not theirs
                for (;;)
                    write_number_of_neighbours("sleep", milliseconds);
            }
            pids_.push_back(pid);
        }
    }
    ~SleepingProcesses() {
        for (const pid_t pid : pids_)
            kill(pid, SIGKILL);
        for (const pid_t pid : pids_)
            waitpid(pid, nullptr, 0);
    }
    SleepingProcesses(const SleepingProcesses &) = delete;
    SleepingProcesses &operator=(const SleepingProcesses &) = delete;

    std::set<std::uint32_t> pids() const { return {pids_.begin(), pids_.end()}; }

private:
    std::vector<pid_t> pids_;
};

bool all_sleep(const RawDevice &device, unsigned count) {
    return eventually([&] { return device.return_counts().at(0).in_flight == count; });
}

TEST(InFlight, names_tasks_and_what_they_were_called_with) {
    need_argtrace();
    need_neighbours();
    constexpr unsigned count = 5;
    RawDevice device;
    ASSERT_EQ(device.session("", 4096, 4), 0);
    EXPECT_EQ(in_flight(device).found, 0u) << "no probes";
    ASSERT_EQ(device.add(sleep_probe().bytes(), 1), 0);
    EXPECT_EQ(in_flight(device).found, 0u) << "no calls";

    const InFlight before = in_flight(device);
    SleepingProcesses sleepers(count);
    ASSERT_TRUE(all_sleep(device, count));
    // Some may be on their way to sleep.
    ASSERT_TRUE(eventually([&] { return in_flight(device).found == count; }));
    const InFlight list = in_flight(device);
    EXPECT_EQ(list.count, count);
    EXPECT_GT(list.ns, before.ns);
    std::set<std::uint32_t> tids;
    for (const argtrace_in_flight_call &call : list.calls) {
        tids.insert(call.tid);
        EXPECT_EQ(call.tid, call.tgid);
        EXPECT_EQ(call.id, device.return_counts().at(0).counts.id);
        EXPECT_EQ(static_cast<std::uint32_t>(call.regs[0]), SleepingProcesses::milliseconds);
        EXPECT_EQ(call.nr_regs, argument_registers);
        for (unsigned i = argument_registers; i < ARGTRACE_IN_FLIGHT_REGS; i++)
            EXPECT_EQ(call.regs[i], 0u) << i;
        EXPECT_GT(call.clock, before.clock);
        EXPECT_LT(call.clock, list.clock);
        EXPECT_NE(call.caller, 0u);
        EXPECT_EQ(call.reserved, 0u);
        EXPECT_EQ(strnlen(call.comm, sizeof(call.comm)), strlen("argtrace_vm_tes"));
    }
    EXPECT_EQ(tids, sleepers.pids());

    // Less room than there are calls: nothing behind it is written to.
    argtrace_in_flight_call two[2]{};
    two[1].tid = ~0u;
    argtrace_in_flight request{};
    request.size = sizeof(request);
    request.buffer = reinterpret_cast<std::uintptr_t>(two);
    request.length = 2 * sizeof(two[0]) - 1;
    ASSERT_EQ(device.call(ARGTRACE_IOC_IN_FLIGHT, &request), 0);
    EXPECT_EQ(request.count, 1u);
    EXPECT_EQ(request.found, count);
    EXPECT_TRUE(tids.contains(two[0].tid));
    EXPECT_EQ(two[1].tid, ~0u);

    // A probe that has been removed: its calls have not returned yet.
    ASSERT_EQ(device.remove({address_of("an_sleep")}), 0);
    EXPECT_EQ(in_flight(device).found, count);
    // Another session has none of them.
    RawDevice other;
    ASSERT_EQ(other.session("", 4096, 4), 0);
    EXPECT_EQ(in_flight(other).found, 0u);
}

TEST(InFlight, refuses_what_is_not_zero) {
    need_argtrace();
    RawDevice device;
    argtrace_in_flight good{};
    good.size = sizeof(good);
    argtrace_in_flight request = good;
    EXPECT_EQ(device.call(ARGTRACE_IOC_IN_FLIGHT, &request), EBADFD) << "without a session";
    ASSERT_EQ(device.session("", 4096, 4), 0);
    request = good;
    EXPECT_EQ(device.call(ARGTRACE_IOC_IN_FLIGHT, &request), 0) << "without room";
    using Spoil = void (*)(argtrace_in_flight &);
    for (const Spoil spoil : {Spoil([](auto &list) { list.flags = 1; }), Spoil([](auto &list) { list.count = 1; }),
                              Spoil([](auto &list) { list.found = 1; }), Spoil([](auto &list) { list.missed = 1; }),
                              Spoil([](auto &list) { list.mult = 1; }), Spoil([](auto &list) { list.clock = 1; }),
                              Spoil([](auto &list) { list.ns = 1; })}) {
        request = good;
        spoil(request);
        EXPECT_EQ(device.call(ARGTRACE_IOC_IN_FLIGHT, &request), EINVAL);
    }
}

TEST(InFlight, a_buffer_that_cannot_be_written_to) {
    need_argtrace();
    need_neighbours();
    RawDevice device;
    ASSERT_EQ(device.session("", 4096, 4), 0);
    ASSERT_EQ(device.add(sleep_probe().bytes(), 1), 0);
    SleepingProcesses sleepers(1);
    ASSERT_TRUE(eventually([&] { return in_flight(device).found == 1; }));
    argtrace_in_flight request{};
    request.size = sizeof(request);
    request.buffer = 4096;
    request.length = ~0ull;
    EXPECT_EQ(device.call(ARGTRACE_IOC_IN_FLIGHT, &request), EFAULT);
}

// Tasks come, go, run, wait and are interrupted in calls that are followed while they are looked at.
TEST(InFlight, is_exact_under_load) {
    need_argtrace();
    need_neighbours();
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    constexpr unsigned count = 3;
    const int rounds = is_sanitizer_kernel() ? 50 : is_long_run() ? 300 : 100;
    const Outcome added = run({"argtrace", "add", "-r", "--buffer", "64K", "vfs_*", "ksys_*", "do_sys_open*", "do_wait*"});
    ASSERT_EQ(added.status, 0) << added.err;
    {
        RawDevice sleeping;
        ASSERT_EQ(sleeping.session("", 4096, 4), 0);
        ASSERT_EQ(sleeping.add(sleep_probe().bytes(), 1), 0);
        SleepingProcesses sleepers(count);
        ASSERT_TRUE(eventually([&] { return in_flight(sleeping).found == count; }));
        RawDevice busy;
        ASSERT_EQ(busy.session("default"), 0);
        MixedLoad load(3);
        std::uint64_t found = 0, nested = 0;
        for (int round = 0; round < rounds; round++) {
            const InFlight asleep = in_flight(sleeping);
            EXPECT_EQ(asleep.found, count);
            const InFlight list = in_flight(busy);
            const InFlight later = in_flight(busy, 0);
            found += list.calls.size();
            std::set<std::uint32_t> seen;
            for (std::size_t i = 0; i < list.calls.size(); i++) {
                const argtrace_in_flight_call &call = list.calls[i];
                EXPECT_NE(call.tid, 0u);
                EXPECT_LT(call.clock, later.clock);
                if (i > 0 && list.calls[i - 1].tid == call.tid) {
                    // The innermost comes first. Counters of two CPUs may differ by a little.
                    EXPECT_LE(call.clock, list.calls[i - 1].clock + ARGTRACE_CLOCK_SLACK);
                    nested++;
                } else {
                    EXPECT_TRUE(seen.insert(call.tid).second) << "a task comes twice";
                }
            }
            ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
        }
        EXPECT_GT(load.stop(), 0u);
        EXPECT_GT(found, 0u);
        EXPECT_GT(nested, 0u);
        std::cout << found << " calls found, " << nested << " in another one\n";
    }
    EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
    EXPECT_TRUE(eventually([] { return RawDevice().info().in_flight == 0; }));
}

TEST(InFlight, a_module_that_is_to_go_names_functions_and_tasks) {
    need_argtrace();
    need_neighbours();
    const pid_t sleeper = [] {
        RawDevice device;
        EXPECT_EQ(device.session("", 4096, 4), 0);
        EXPECT_EQ(device.add(sleep_probe().bytes(), 1), 0);
        const pid_t pid = fork();
        if (pid == 0) {
            close_range(STDERR_FILENO + 1, ~0u, 0);
            write_number_of_neighbours("sleep", SleepingProcesses::milliseconds);
            _exit(0);
        }
        EXPECT_TRUE(eventually([&] { return in_flight(device).found == 1; }));
        return pid;
    }();
    EXPECT_NE(unload_module("argtrace"), 0) << "with a call in flight";
    const std::string sentence = "calls of an_sleep have not returned since it is not traced any more: 1 (in argtrace_vm_tes " +
                                 std::to_string(sleeper) + ")";
    EXPECT_TRUE(eventually([&] { return run({"dmesg"}).out.find(sentence) != std::string::npos; })) << sentence;
    kill(sleeper, SIGKILL);
    waitpid(sleeper, nullptr, 0);
    unload_argtrace();
    need_argtrace();
}

} // namespace
} // namespace vmtest
