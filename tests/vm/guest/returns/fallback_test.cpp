// SPDX-License-Identifier: GPL-2.0-only
// Calls whose return the kernel follows for us, by fprobes and kretprobes: the same records, each call in one count, and nothing left
// behind, whatever is in flight when the probe, the session or the module goes.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/architecture.h"
#include "support/command.h"
#include "support/device.h"
#include "support/followed_neighbours.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/neighbours.h"
#include "support/neighbours_bpf.h"
#include "support/tracefs.h"

namespace vmtest {
namespace {

struct KernelWay {
    const char *name;
    std::uint32_t flag;
    std::uint64_t feature;
};
constexpr KernelWay kernel_ways[] = {{"fprobe", ARGTRACE_PROBE_BY_FPROBE, ARGTRACE_FEATURE_FPROBE},
                                     {"kretprobe", ARGTRACE_PROBE_BY_KRETPROBE, ARGTRACE_FEATURE_KRETPROBE}};

class Fallback : public testing::TestWithParam<KernelWay> {
protected:
    void SetUp() override {
        need_argtrace();
        need_neighbours();
        if (!(RawDevice().info().features & GetParam().feature)) {
            if (has_fprobe())
                GTEST_SKIP() << "fprobes of this kernel are on the function graph, and warn of calls that are not theirs";
            GTEST_SKIP() << "this kernel is built without CONFIG_FPROBE";
        }
    }

    static std::uint32_t by() { return GetParam().flag; }

    static RawProbe probe_of(const std::string &function, unsigned nr_args) {
        RawProbe probe = RawProbe::call(address_of(function), nr_args, function);
        probe.header.flags |= by();
        return probe;
    }
};

TEST_P(Fallback, has_the_same_arguments_and_values) {
    FollowedNeighbours ours(by());
    ours.begin();
    for (int round = 0; round < 3; ++round) {
        call_neighbours(neighbour_calls);
        for (const CallOutcomes &one : ours.take())
            EXPECT_EQ(one.records, neighbour_calls);
    }
    ours.end();
    EXPECT_FALSE(is_armed("an_value"));
}

// Where our trampoline comes too late: BPF programs that were there before, and live patches.
TEST_P(Fallback, follows_calls_that_others_have_go_elsewhere) {
    int tried = 0;
    for (const NeighbourKind &kind : neighbour_kinds()) {
        std::string why;
        const auto theirs = kind.make(why);
        if (!theirs || (theirs->lets_us_follow() && !theirs->diverts()))
            continue;
        SCOPED_TRACE(kind.name);
        tried++;
        theirs->begin();
        FollowedNeighbours ours(by());
        ours.begin();
        call_neighbours(neighbour_calls);
        for (const CallOutcomes &one : ours.take(theirs->diverts()))
            EXPECT_EQ(one.records, neighbour_calls);
        const long seen = theirs->seen("an_value");
        if (seen >= 0) {
            EXPECT_EQ(seen, static_cast<long>(neighbour_calls));
        }
        theirs->end();
        call_neighbours(neighbour_calls);
        for (const CallOutcomes &one : ours.take())
            EXPECT_EQ(one.records, neighbour_calls);
        ours.end();
    }
    EXPECT_GE(tried, 2);
}

/// Tasks that sleep in an_sleep() until they are killed.
class Sleepers {
public:
    explicit Sleepers(unsigned count) {
        for (unsigned i = 0; i < count; i++)
            children_.push_back(std::make_unique<Child>([] {
                close_range(STDERR_FILENO + 1, ~0u, 0); // the device is not theirs
                for (;;)
                    write_number_of_neighbours("sleep", 100000);
            }));
    }

private:
    std::vector<std::unique_ptr<Child>> children_;
};

TEST_P(Fallback, forgets_who_sleeps_when_the_probe_goes) {
    constexpr unsigned count = 20;
    RawDevice device;
    ASSERT_EQ(device.session("", 4096, 4), 0);
    ASSERT_EQ(device.add(probe_of("an_sleep", 1).bytes(), 1), 0);
    auto sleepers = std::make_unique<Sleepers>(count);
    ASSERT_TRUE(eventually([&] { return device.return_counts().at(0).in_flight == count; }));
    ASSERT_EQ(device.remove({address_of("an_sleep")}), 0);
    const auto counts = device.return_counts(ARGTRACE_LIST_REMOVED).at(0);
    EXPECT_EQ(counts.in_flight, 0u);
    EXPECT_EQ(counts.unfollowed[ARGTRACE_UNFOLLOWED_REMOVED], count);
    EXPECT_EQ(hits(counts), count);
    EXPECT_EQ(device.info().in_flight, 0u);

    // Back to life, with the others still asleep: they are not its calls, nor when they return.
    ASSERT_EQ(device.add(probe_of("an_sleep", 1).bytes(), 1), 0);
    Sleepers more(1);
    ASSERT_TRUE(eventually([&] { return device.return_counts().at(0).in_flight == 1; }));
    sleepers.reset();
    EXPECT_EQ(device.return_counts().at(0).in_flight, 1u);
    EXPECT_EQ(hits(device.return_counts().at(0)), 1u);
    device.close();
    EXPECT_FALSE(is_armed("an_sleep"));
    // Nothing of ours is on their stacks.
    EXPECT_EQ(unload_module("argtrace"), 0);
    need_argtrace();
}

// Each call begins in one registration and ends in the next, through more of them than the function graph has indices (16).
TEST_P(Fallback, calls_sleep_from_one_registration_into_the_next) {
    RawDevice device;
    ASSERT_EQ(device.session("", 4096, 4), 0);
    std::unique_ptr<Sleepers> earlier;
    for (unsigned round = 0; round < 18; round++) {
        ASSERT_EQ(device.add(probe_of("an_sleep", 1).bytes(), 1), 0);
        auto later = std::make_unique<Sleepers>(1);
        ASSERT_TRUE(eventually([&] { return device.return_counts().at(0).in_flight == 1; }));
        earlier = std::move(later);
        EXPECT_EQ(device.return_counts().at(0).in_flight, 1u) << "the one that has died was of another registration";
        ASSERT_EQ(device.remove({address_of("an_sleep")}), 0);
        EXPECT_EQ(device.return_counts(ARGTRACE_LIST_REMOVED).at(0).unfollowed[ARGTRACE_UNFOLLOWED_REMOVED], 1u);
    }
}

TEST_P(Fallback, counts_calls_for_which_the_kernel_has_no_room) {
    const unsigned count = 64 + 2 * cpu_count() + 8;
    RawDevice device;
    ASSERT_EQ(device.session("", 4096, 4), 0);
    ASSERT_EQ(device.add(probe_of("an_sleep", 1).bytes(), 1), 0);
    {
        Sleepers sleepers(count);
        EXPECT_TRUE(eventually([&] { return hits(device.return_counts().at(0)) == count; }));
        const auto counts = device.return_counts().at(0);
        EXPECT_EQ(counts.in_flight + counts.unfollowed[ARGTRACE_UNFOLLOWED_MISSED], count);
        EXPECT_GT(counts.unfollowed[ARGTRACE_UNFOLLOWED_MISSED], 0u);
    }
    // They have returned from there on a signal's behalf before they died.
    EXPECT_TRUE(eventually([&] { return device.return_counts().at(0).in_flight == 0; }));
    EXPECT_GT(device.return_counts().at(0).counts.records, 0u);
    device.close();
}

TEST_P(Fallback, in_interrupts_and_nmis_every_call_is_in_a_count) {
    need_load_module();
    RawDevice device;
    ASSERT_EQ(device.session("", 4096, 4), 0);
    const char *const functions_of_load[] = {"al_process", "al_interrupt", "al_nmi"};
    std::vector<std::byte> probes;
    for (const char *function : functions_of_load) {
        RawProbe probe = RawProbe::words(address_of(function), 3, function);
        probe.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | by();
        probes = probes + probe.bytes();
    }
    ASSERT_EQ(device.add(probes, 3), 0);
    const LoadCalls before = load_calls();
    Load load;
    load.calls = 1000;
    load.burst = 3;
    load.period_ns = 300000;
    load.nmis = 50;
    load.nmi_burst = 2;
    run_load(load);
    const LoadCalls after = load_calls();
    const auto counts = device.return_counts();
    const std::uint64_t calls[] = {after.process - before.process, after.interrupt - before.interrupt, after.nmi - before.nmi};
    for (std::size_t i = 0; i < counts.size(); i++) {
        EXPECT_EQ(counts[i].in_flight, 0u) << functions_of_load[i];
        // The kernel drops calls inside its own handlers, and counts some of them; it never shows one twice.
        EXPECT_LE(hits(counts[i]), calls[i]) << functions_of_load[i];
        if (i < 2 || has_nmis) {
            EXPECT_GT(hits(counts[i]), 0u) << functions_of_load[i];
        }
    }
    EXPECT_EQ(counts[0].counts.records + counts[0].counts.lost[ARGTRACE_LOST_FULL], hits(counts[0]));
}

TEST_P(Fallback, goes_under_load) {
    need_load_module();
    std::atomic<bool> stop = false;
    std::thread caller([&] {
        Load load;
        load.burst = 3;
        load.nmis = 50;
        while (!stop)
            run_load(load);
    });
    for (int round = 0; round < 3; ++round) {
        {
            RawDevice device;
            EXPECT_EQ(device.session("", 4096, 4), 0);
            const auto calls = [&](std::size_t function) { return hits(device.return_counts().at(function)); };
            for (int add = 0; add < 3; ++add) {
                EXPECT_EQ(device.add(probe_of("al_process", 3).bytes() + probe_of("al_interrupt", 3).bytes(), 2), 0);
                EXPECT_TRUE(eventually([&] { return calls(0) > 0 && calls(1) > 0; }));
                EXPECT_EQ(device.remove_all(), 0);
            }
            for (const auto &one : device.return_counts(ARGTRACE_LIST_REMOVED))
                EXPECT_EQ(one.in_flight, 0u);
            // And once without being removed before the session goes.
            EXPECT_EQ(device.add(probe_of("al_process", 3).bytes(), 1), 0);
        }
        EXPECT_EQ(unload_module("argtrace"), 0);
        need_argtrace();
    }
    stop = true;
    caller.join();
}

TEST_P(Fallback, says_what_it_does_not_take) {
    RawDevice device;
    ASSERT_EQ(device.session("", 4096, 4), 0);
    const auto refused = [&](const RawProbe &probe) {
        std::uint32_t failed = 1000;
        const int error = device.add(probe.bytes(), 1, &failed);
        EXPECT_EQ(failed, error == EOPNOTSUPP || error == EINVAL ? 0u : failed);
        return error;
    };
    RawProbe both = probe_of("an_value", 2);
    both.header.flags |= ARGTRACE_PROBE_BY_KERNEL;
    EXPECT_EQ(refused(both), EINVAL);
    RawProbe at_entry = RawProbe::words(address_of("an_value"), 2);
    at_entry.header.flags = by();
    EXPECT_EQ(refused(at_entry), EINVAL);
    RawProbe reason = probe_of("an_value", 2);
    reason.header.flags |= ARGTRACE_PROBE_BY_REASON(ARGTRACE_BY_REASONS);
    EXPECT_EQ(refused(reason), EINVAL);
    RawProbe ours_for_a_reason = RawProbe::call(address_of("an_value"), 2);
    ours_for_a_reason.header.flags |= ARGTRACE_PROBE_BY_REASON(ARGTRACE_BY_BPF);
    EXPECT_EQ(refused(ours_for_a_reason), EINVAL);
    RawProbe syscall = probe_of(SYSCALL_PREFIX "getpid", 0);
    syscall.header.kind = ARGTRACE_KIND_SYSCALL;
    EXPECT_EQ(refused(syscall), EINVAL);
    // More on the stack than is said to be there.
    RawProbe beyond = probe_of("an_many", 8);
    beyond.header.flags -= ARGTRACE_PROBE_WORDS(1) - ARGTRACE_PROBE_WORDS(0);
    EXPECT_EQ(refused(beyond), EINVAL);
    RawProbe nowhere = probe_of("an_value", 2);
    nowhere.header.addr += 8;
    EXPECT_EQ(refused(nowhere), EINVAL);
    nowhere.header.addr = 0xffff888000000000;
    EXPECT_EQ(refused(nowhere), EINVAL);
    EXPECT_EQ(refused(probe_of("do_exit", 1)), EOPNOTSUPP);
    EXPECT_TRUE(device.counts(ARGTRACE_LIST_REMOVED).empty());
    // And it has changed nothing.
    EXPECT_EQ(refused(probe_of("an_value", 2)), 0);
}

// On the function graph they warn of calls that are not theirs: kmod/base/compat.h.
TEST(ReturnWays, fprobes_are_used_where_they_have_no_part_in_the_function_graph) {
    need_argtrace();
    const bool on_graph = kallsyms_text().find(" fprobe_return\n") != std::string::npos;
    EXPECT_EQ((RawDevice().info().features & ARGTRACE_FEATURE_FPROBE) != 0, has_fprobe() && !on_graph);
}

/// Functions that ftrace traces, and in which the kernel forbids kprobes.
std::string forbidden_function() {
    const std::string traceable = "\n" + read_file("/sys/kernel/tracing/available_filter_functions");
    std::istringstream lines(read_file("/sys/kernel/debug/kprobes/blacklist"));
    for (std::string line; std::getline(lines, line);) {
        const std::string name = line.substr(line.rfind('\t') + 1);
        if (traceable.find("\n" + name + "\n") != std::string::npos && kallsyms_text().find(" T " + name + "\n") != std::string::npos)
            return name;
    }
    return "";
}

TEST(ReturnWays, are_refused_where_the_kernel_forbids_them) {
    need_argtrace();
    const std::string function = forbidden_function();
    if (function.empty())
        GTEST_SKIP() << "this kernel forbids kprobes in no function that can be traced";
    RawDevice device;
    ASSERT_EQ(device.session("", 4096, 4), 0);
    RawProbe probe = RawProbe::call(address_of(function), 0, function);
    probe.header.flags |= ARGTRACE_PROBE_BY_KRETPROBE;
    std::uint32_t failed = 1000;
    EXPECT_EQ(device.add(probe.bytes(), 1, &failed), EOPNOTSUPP) << function;
    EXPECT_EQ(failed, 0u);
}

/// The line of status of a function.
nlohmann::ordered_json status_of(const std::string &function) {
    for (const auto &line : json_lines(run({"argtrace", "status", "--json"}).out))
        if (line.contains("func") && line["func"] == function)
            return line;
    ADD_FAILURE() << function << " is not in status";
    return {};
}

// The tool finds out who else has a function, and has the kernel follow its calls.
TEST(ReturnWays, of_functions_that_others_have) {
    need_argtrace();
    need_neighbours();
    int tried = 0;
    for (const NeighbourKind &kind : neighbour_kinds()) {
        std::string why;
        const auto theirs = kind.make(why);
        if (!theirs)
            continue;
        SCOPED_TRACE(kind.name);
        run({"argtrace", "clear"});
        const bool by_kernel = !theirs->lets_us_follow() || theirs->diverts();
        tried += by_kernel;
        theirs->begin();
        const Outcome added = run({"argtrace", "add", "-r", "an_value"});
        ASSERT_EQ(added.status, 0) << added.err;
        EXPECT_EQ(added.err.find("of the kernel") != std::string::npos, by_kernel) << added.err;
        call_neighbours(neighbour_calls);
        const auto status = status_of("an_value");
        const bool followed = by_kernel || theirs->lets_us_share();
        EXPECT_EQ(status["records"], followed ? neighbour_calls : 0);
        EXPECT_EQ(status["unfollowed"]["taken"], followed ? 0 : neighbour_calls) << status;
        EXPECT_EQ(status["return_by"] != "trampoline", by_kernel) << status;
        if (by_kernel) {
            EXPECT_EQ(status["return_by_reason"], theirs->diverts() ? "patch" : "bpf");
        }
        theirs->end();
        EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
    }
    EXPECT_GE(tried, 2);
}

/// How many calls of getpgid status has, which must all have been recorded.
std::uint64_t recorded_calls_of_getpgid() {
    const auto status = status_of("s:getpgid");
    EXPECT_EQ(status["records"], status["hits"]) << status;
    return status["records"];
}

/// Whoever else calls getpgid meanwhile.
void call_getpgid(std::uint64_t count) {
    while (count-- > 0)
        syscall(SYS_getpgid, 0);
}

class SyscallBesideBpf : public testing::TestWithParam<bool> {};

// A system call's program that was attached after us leaves us all calls, but on arm64, where they are counted. One that was there before us would have them all, and the kernel
// does not follow system calls for us: that is said when it is asked for, and calls can be traced when they are made.
TEST_P(SyscallBesideBpf, is_followed_or_refused) {
    constexpr std::uint64_t calls = 100;
    need_argtrace();
    std::string why;
    const auto program = make_bpf_of_getpgid(GetParam(), why);
    if (!program)
        GTEST_SKIP() << why;
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    const Outcome before = run({"argtrace", "add", "-r", "s:getpgid"});
    ASSERT_EQ(before.status, 0) << before.err;
    program->begin();
    call_getpgid(calls);
    if (follows_beside_others) {
        EXPECT_GE(recorded_calls_of_getpgid(), calls);
    } else {
        const auto status = status_of("s:getpgid");
        EXPECT_GE(status["hits"].get<std::uint64_t>(), calls);
        EXPECT_EQ(status["unfollowed"]["taken"], status["hits"]) << status;
    }
    EXPECT_GE(program->seen("getpgid"), static_cast<long>(calls));
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);

    const Outcome after = run({"argtrace", "add", "-r", "s:getpgid"});
    EXPECT_EQ(after.status, 1);
    EXPECT_NE(after.err.find("a BPF program has come to it first, and system calls are followed by the trampoline alone"), std::string::npos)
        << after.err;
    const Outcome at_entry = run({"argtrace", "add", "s:getpgid"});
    ASSERT_EQ(at_entry.status, 0) << at_entry.err;
    call_getpgid(calls);
    EXPECT_GE(recorded_calls_of_getpgid(), calls);
    EXPECT_GE(program->seen("getpgid"), static_cast<long>(calls));
    program->end();
    EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
}

INSTANTIATE_TEST_SUITE_P(ReturnWays, SyscallBesideBpf, testing::Bool(),
                         [](const auto &info) { return info.param ? "at_return" : "at_entry"; });

INSTANTIATE_TEST_SUITE_P(ByTheKernel, Fallback, testing::ValuesIn(kernel_ways),
                         [](const testing::TestParamInfo<KernelWay> &info) { return std::string(info.param.name); });

} // namespace
} // namespace vmtest
