// SPDX-License-Identifier: GPL-2.0-only
// Every function of the kernel at once, under load: the machine stays up, and the numbers at the
// end add up to the last call.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"
#include "support/mixed_load.h"
#include "support/shown.h"

namespace vmtest {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint32_t scale_packet_size = 64 << 10;
constexpr std::uint64_t burst_calls = 5000;

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

double load_seconds() {
    return is_long_run() ? 60 : 5;
}
unsigned load_workers() {
    return is_long_run() ? 3 : 1;
}
/// The tool leaves what it has not shown to the next reader.
std::vector<std::string> trace_command() {
    return is_long_run() ? std::vector<std::string>{"argtrace", "trace", "--duration", "5"}
                         : std::vector<std::string>{"argtrace", "trace", "-n", "10000"};
}
std::uint32_t packets() {
    return is_long_run() ? 16 : 4;
}

std::size_t nr_traceable_functions() {
    const std::string names = read_file("/sys/kernel/tracing/available_filter_functions");
    return static_cast<std::size_t>(std::count(names.begin(), names.end(), '\n'));
}

std::uint64_t memory_charged() {
    return RawDevice().info().memory_used;
}

void all_are_added(const std::vector<std::string> &options) {
    const auto start = SteadyClock::now();
    const std::string buffer = std::to_string(scale_packet_size / 1024 * packets()) + "K";
    std::vector<std::string> command{"argtrace", "add", "--buffer", buffer};
    command.insert(command.end(), options.begin(), options.end());
    command.emplace_back("*");
    const Outcome added = run(command);
    ASSERT_EQ(added.status, 0) << added.err;
    std::printf("added in %.1f s, %llu KiB charged\n", seconds_since(start),
                static_cast<unsigned long long>(memory_charged() >> 10));
}

/// The number of events that the tool has shown.
std::uint64_t traced_by_the_tool() {
    const Outcome trace = run(trace_command());
    EXPECT_EQ(trace.status, 0) << trace.err;
    EXPECT_GT(trace.out.size(), 100000u);
    const std::size_t summary = trace.err.rfind(" events shown");
    EXPECT_NE(summary, trace.err.npos) << trace.err;
    return std::stoull(trace.err.substr(trace.err.rfind(' ', summary - 1) + 1));
}

class Reader {
public:
    Reader() {
        EXPECT_EQ(device_.session("default"), 0);
        EXPECT_EQ(device_.reader(ARGTRACE_READER_EXCLUDE_SELF), 0);
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
            rings_.push_back(std::make_unique<RawRing>(device_, cpu, scale_packet_size, packets()));
    }

    std::uint64_t read() {
        std::uint64_t records = 0;
        for (const auto &ring : rings_)
            records += ring->drain();
        return records;
    }

    /// Sums over all functions, removed ones too, and how many those are.
    argtrace_counts total(std::size_t *functions) const {
        argtrace_counts total{};
        const auto all = device_.counts(ARGTRACE_LIST_REMOVED);
        for (const argtrace_counts &one : all) {
            total.records += one.records;
            total.filtered += one.filtered;
            total.faults += one.faults;
            EXPECT_LE(one.faults, hits(one)) << "once a call";
            for (unsigned cause = 0; cause < ARGTRACE_LOST_MAX; cause++)
                total.lost[cause] += one.lost[cause];
        }
        *functions = all.size();
        return total;
    }

    /// The same as counted by the rings.
    std::uint64_t lost_to_full_rings() const {
        std::uint64_t lost = 0;
        for (const auto &ring : rings_)
            lost += ring->control()->lost;
        return lost;
    }

private:
    RawDevice device_;
    std::vector<std::unique_ptr<RawRing>> rings_;
};

/// Called when every function is disarmed: each record was read, each loss was counted.
argtrace_counts all_adds_up(const Reader &reader, std::uint64_t read) {
    std::size_t functions = 0;
    const argtrace_counts total = reader.total(&functions);
    // The others have no prototype that can be trusted.
    EXPECT_GT(functions, nr_traceable_functions() * 6 / 10);
    EXPECT_EQ(read, total.records);
    EXPECT_EQ(reader.lost_to_full_rings(), total.lost[ARGTRACE_LOST_FULL]);
    EXPECT_GT(total.filtered, 0u);
    EXPECT_EQ(hits(total), read + reader.lost_to_full_rings() + total.filtered +
                               total.lost[ARGTRACE_LOST_RECURSION] +
                               total.lost[ARGTRACE_LOST_NO_BUFFER]);
    EXPECT_EQ(total.lost[ARGTRACE_LOST_NO_BUFFER], 0u);
    // What argtrace itself calls while it records, and interrupts that come just then.
    EXPECT_LE(total.lost[ARGTRACE_LOST_RECURSION] * 100, hits(total));
    std::printf("%zu functions, %llu calls: %llu records, all read, %llu lost to full rings, %llu "
                "to recursion, %llu filtered; %llu with faults\n",
                functions, static_cast<unsigned long long>(hits(total)),
                static_cast<unsigned long long>(read),
                static_cast<unsigned long long>(total.lost[ARGTRACE_LOST_FULL]),
                static_cast<unsigned long long>(total.lost[ARGTRACE_LOST_RECURSION]),
                static_cast<unsigned long long>(total.filtered), static_cast<unsigned long long>(total.faults));
    return total;
}

void trace_all(const std::vector<std::string> &options, argtrace_counts &counts) {
    need_argtrace();
    need_test_module();
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    ASSERT_NO_FATAL_FAILURE(all_are_added(options));
    {
        const auto start = SteadyClock::now();
        MixedLoad load(load_workers());
        std::uint64_t read = traced_by_the_tool();
        std::printf("the tool has shown %llu events in %.1f s\n",
                    static_cast<unsigned long long>(read), seconds_since(start));
        Reader reader;
        while (seconds_since(start) < load_seconds()) {
            read += reader.read();
            usleep(2000);
        }
        // A known number of calls, among all the others.
        call_functions("burst", burst_calls);
        const std::uint64_t rounds = load.stop();
        EXPECT_GT(rounds, 0u);
        std::printf("%.1f s of load: %llu rounds\n", seconds_since(start),
                    static_cast<unsigned long long>(rounds));
        EXPECT_EQ(hits_of("at_four"), burst_calls);

        const auto removal = SteadyClock::now();
        const Outcome removed = run({"argtrace", "rm", "*"});
        ASSERT_EQ(removed.status, 0) << removed.err;
        std::printf("removed in %.1f s\n", seconds_since(removal));
        EXPECT_EQ(read_file("/sys/kernel/tracing/enabled_functions"), "");
        read += reader.read();
        counts = all_adds_up(reader, read);
    }
    EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
    EXPECT_EQ(unload_module("argtrace"), 0);
    need_argtrace();
}

TEST(Scale, all_functions_at_once) {
    argtrace_counts counts{};
    ASSERT_NO_FATAL_FAILURE(trace_all({}, counts));
    EXPECT_EQ(counts.faults, 0u);
}

// Each call reads memory, wherever its arguments lead: paths, names, addresses.
TEST(ScaleInDetail, all_functions_with_what_their_arguments_mean) {
    argtrace_counts counts{};
    ASSERT_NO_FATAL_FAILURE(trace_all({"-d"}, counts));
    EXPECT_GT(counts.faults, 0u) << "there are pointers that are NULL";
}

/// The same of calls that are recorded when they return, with those that have not and those that were not followed.
argtrace_return_counts sum_of_returns(const RawDevice &device, std::size_t *functions) {
    argtrace_return_counts total{};
    const auto all = device.return_counts(ARGTRACE_LIST_REMOVED);
    for (const argtrace_return_counts &one : all) {
        total.counts.records += one.counts.records;
        total.counts.filtered += one.counts.filtered;
        for (unsigned cause = 0; cause < ARGTRACE_LOST_MAX; cause++)
            total.counts.lost[cause] += one.counts.lost[cause];
        total.in_flight += one.in_flight;
        for (unsigned reason = 0; reason < ARGTRACE_UNFOLLOWED_MAX; reason++)
            total.unfollowed[reason] += one.unfollowed[reason];
    }
    *functions = all.size();
    return total;
}

// Runs after all others, as tasks sleep in some of the functions for as long as they like, and the module has to stay.
TEST(ScaleOfReturns, all_functions_at_once) {
    if (is_sanitizer_kernel())
        GTEST_SKIP() << "the module might have to stay, and kmemleak looks when it has gone";
    need_argtrace();
    need_test_module();
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    const std::string buffer = std::to_string(scale_packet_size / 1024 * packets()) + "K";
    const Outcome added = run({"argtrace", "add", "-r", "--buffer", buffer, "*"});
    ASSERT_EQ(added.status, 0) << added.err;
    {
        Reader reader;
        RawDevice device;
        ASSERT_EQ(device.session("default"), 0);
        const auto start = SteadyClock::now();
        MixedLoad load(load_workers());
        std::uint64_t read = 0;
        while (seconds_since(start) < load_seconds()) {
            read += reader.read();
            usleep(2000);
        }
        // A known number of calls, among all the others.
        call_functions("burst", burst_calls);
        EXPECT_GT(load.stop(), 0u);
        EXPECT_EQ(hits_of("at_four"), burst_calls);
        ASSERT_EQ(run({"argtrace", "rm", "*"}).status, 0);
        EXPECT_EQ(read_file("/sys/kernel/tracing/enabled_functions"), "");
        read += reader.read();

        std::size_t functions = 0;
        const argtrace_return_counts total = sum_of_returns(device, &functions);
        EXPECT_GT(functions, nr_traceable_functions() * 6 / 10);
        EXPECT_EQ(read, total.counts.records);
        EXPECT_EQ(reader.lost_to_full_rings(), total.counts.lost[ARGTRACE_LOST_FULL]);
        EXPECT_EQ(total.counts.lost[ARGTRACE_LOST_NO_BUFFER], 0u);
        EXPECT_LE(total.counts.lost[ARGTRACE_LOST_RECURSION] * 100, hits(total));
        std::printf("%zu functions, %llu calls: %llu records, all read, %llu lost to full rings, %llu to recursion, "
                    "%llu filtered, %llu in flight, %llu on low stacks, %llu taken, %llu returned after they were removed, "
                    "%llu ended with their task\n",
                    functions, static_cast<unsigned long long>(hits(total)), static_cast<unsigned long long>(read),
                    static_cast<unsigned long long>(total.counts.lost[ARGTRACE_LOST_FULL]),
                    static_cast<unsigned long long>(total.counts.lost[ARGTRACE_LOST_RECURSION]),
                    static_cast<unsigned long long>(total.counts.filtered), static_cast<unsigned long long>(total.in_flight),
                    static_cast<unsigned long long>(total.unfollowed[ARGTRACE_UNFOLLOWED_STACK]),
                    static_cast<unsigned long long>(total.unfollowed[ARGTRACE_UNFOLLOWED_TAKEN]),
                    static_cast<unsigned long long>(total.unfollowed[ARGTRACE_UNFOLLOWED_REMOVED]),
                    static_cast<unsigned long long>(total.unfollowed[ARGTRACE_UNFOLLOWED_EXITED]));
    }
    EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
    // It can go, or says for what it stays.
    EXPECT_TRUE(eventually([] { return unload_module("argtrace") == 0 || RawDevice().info().in_flight > 0; }));
    need_argtrace();
}

} // namespace
} // namespace vmtest
