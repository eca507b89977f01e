// SPDX-License-Identifier: GPL-2.0-only
// The way argtrace walks stacks, against the kernel's stack_trace_save(): a helper module has argtrace's source in it and
// compares the two at each call (modules/argtrace_stacks.c).
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include "support/command.h"
#include "support/machine.h"
#include "support/mixed_load.h"
#include "support/neighbours.h"
#include "support/neighbours_bpf.h"
#include "support/tracefs.h"

namespace vmtest {
namespace {

const std::string directory = "/sys/kernel/debug/argtrace_stacks/";
constexpr const char *walked_functions =
    "vfs_* al_* " SYSCALL_PREFIX "* kmem_cache_* ktime_get* *_lock* rcu_* *sched* tcp_* *timer* ao_* module_*";

/// The helper module, for as long as it is there.
class Comparison {
public:
    Comparison() {
        need_load_module();
        EXPECT_EQ(load_module("argtrace_stacks.ko"), 0);
    }
    ~Comparison() {
        write("trace", "\n");
        write("tick", "0");
        EXPECT_EQ(unload_module("argtrace_stacks"), 0);
    }
    Comparison(const Comparison &) = delete;
    Comparison &operator=(const Comparison &) = delete;

    void write(const std::string &file, const std::string &text) const {
        std::ofstream out(directory + file);
        out << text << std::flush;
        EXPECT_TRUE(out) << file;
    }

    std::map<std::string, std::uint64_t> counts() const {
        std::map<std::string, std::uint64_t> counts;
        std::istringstream lines(read_file(directory + "counts"));
        std::uint64_t number = 0;
        for (std::string what; lines >> number && lines.ignore() && std::getline(lines, what);)
            counts[what] = number;
        return counts;
    }

    /// From now on stacks are counted that have a frame in the code which /proc/kallsyms names so: from the first such name to the end
    /// of the page that the last one begins in.
    void look_for_frames_in(const std::string &prefix) const {
        std::istringstream lines(read_file("/proc/kallsyms"));
        std::uint64_t first = ~0ull, last = 0;
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::uint64_t address = 0;
            std::string type, name;
            if (words >> std::hex >> address >> type >> name && name.starts_with(prefix)) {
                first = std::min(first, address);
                last = std::max(last, address);
            }
        }
        ASSERT_LE(first, last) << "the kernel has no " << prefix;
        write("first", std::to_string(first));
        write("last", std::to_string(last | 4095));
    }

    /// That many more samples, with NMIs among them; `also` is done between them.
    void run(std::uint64_t samples, const std::function<void()> &also = [] {}) const {
        const std::uint64_t until = counts()["same"] + samples;
        const auto too_late = std::chrono::steady_clock::now() + std::chrono::minutes(4);
        MixedLoad load(2);
        // Softirqs are rare among few samples.
        const auto is_enough = [this, until] {
            std::map<std::string, std::uint64_t> seen = counts();
            return seen["same"] >= until && seen["in softirqs"] > 0;
        };
        while (!is_enough() && std::chrono::steady_clock::now() < too_late) {
            run_load({200, 300000, 3, 20, 3});
            also();
        }
        load.stop();
    }

    /// Calls come from everywhere; ticks interrupt neither interrupts nor NMIs.
    void expect_no_difference(bool of_calls = true) const {
        std::map<std::string, std::uint64_t> seen = counts();
        EXPECT_EQ(seen["different"], 0u) << read_file(directory + "difference");
        EXPECT_LT(seen["unknown to the kernel"], 1 + seen["same"] / 1000);
        EXPECT_GT(seen["in processes"], 0u);
        EXPECT_GT(seen["in softirqs"], 0u);
        EXPECT_EQ(seen["in interrupts"] > 0, of_calls);
        EXPECT_EQ(seen["in NMIs"] > 0, of_calls && has_nmis);
        // Otherwise nothing but the kernel's unwinder has been compared with itself.
        EXPECT_LT(seen["by the unwinder"], seen["same"] / 2);
        for (const auto &[what, number] : seen)
            std::cout << "  " << number << ' ' << what << '\n';
    }
};

std::uint64_t samples() {
    return is_sanitizer_kernel() ? 30000 : is_long_run() ? 3000000 : 60000;
}

TEST(StackWalk, equals_the_kernels_under_mixed_load) {
    const Comparison comparison;
    comparison.write("trace", walked_functions);
    comparison.run(samples());
    comparison.expect_no_difference();
}

TEST(StackWalk, modules_that_come_and_go) {
    const Comparison comparison;
    comparison.write("trace", walked_functions);
    comparison.run(samples() / 3, [] {
        EXPECT_EQ(load_module("argtrace_onload.ko"), 0);
        EXPECT_EQ(unload_module("argtrace_onload"), 0);
    });
    comparison.expect_no_difference();
}

/// What ticks interrupt, which is any instruction, also where a frame is being made.
TEST(StackWalk, ticks_equal_the_kernels_under_mixed_load) {
    const Comparison comparison;
    comparison.write("tick", "10000");
    comparison.run(samples() / 30);
    comparison.expect_no_difference(false);
}

/// What other tracers put on the stack: trampolines, and return addresses that are not the caller's.
TEST(StackWalk, other_tracers_on_the_stack) {
    const Comparison comparison;
    std::string events = "p:stacks/entry vfs_read\nr:stacks/exit vfs_read\nr:stacks/exit_of_write vfs_write\n";
    ASSERT_EQ(write_tracefs("kprobe_events", events), 0);
    ASSERT_EQ(write_tracefs("events/stacks/enable", "1"), 0);
    if (has_fprobe()) {
        ASSERT_EQ(write_tracefs("dynamic_events", "f:fstacks/open vfs_open%return\n"), 0);
        ASSERT_EQ(write_tracefs("events/fstacks/enable", "1"), 0);
    }
    comparison.write("trace", walked_functions);
    comparison.run(samples() / 3);
    // One after the other: with function_graph beside it, the kernel's own fprobe_return() warns in Linux 7.3.
    if (has_fprobe()) {
        EXPECT_EQ(write_tracefs("events/fstacks/enable", "0"), 0);
        EXPECT_EQ(write_tracefs("dynamic_events", "-:fstacks/open\n"), 0);
    }
    // Not of all functions: those that are called while they are armed are compared as well, without end.
    EXPECT_EQ(write_tracefs("set_ftrace_filter", "vfs_*\n"), 0);
    EXPECT_EQ(write_tracefs("current_tracer", "function_graph"), 0);
    comparison.run(samples() / 10);
    EXPECT_EQ(write_tracefs("current_tracer", "nop"), 0);
    EXPECT_EQ(write_tracefs("set_ftrace_filter", "!vfs_*\n"), 0);
    EXPECT_EQ(write_tracefs("events/stacks/enable", "0"), 0);
    EXPECT_EQ(write_tracefs("kprobe_events", "-:stacks/entry\n-:stacks/exit\n-:stacks/exit_of_write\n"), 0);
    comparison.expect_no_difference();
}

/// A BPF program at the entry or at the return of the functions that read and write files: its trampoline stands on the stacks of all
/// that is called in them, or in the program.
class StackWalkBesideBpf : public testing::TestWithParam<bool> {};

TEST_P(StackWalkBesideBpf, equals_the_kernels) {
    std::string why;
    const auto programs = make_bpf_of_files(GetParam(), why);
    if (!programs)
        GTEST_SKIP() << why;
    const Comparison comparison;
    programs->begin();
    comparison.look_for_frames_in("bpf_trampoline_");
    comparison.write("trace", std::string(walked_functions) + " rw_verify_area bpf_get_current_comm");
    comparison.run(samples() / 5);
    EXPECT_GT(programs->seen("vfs_read"), 0);
    EXPECT_GT(programs->seen("vfs_write"), 0);
    programs->end();
    comparison.run(samples() / 30);
    comparison.expect_no_difference();
    EXPECT_GT(comparison.counts()["through what is looked for"], 0u);
}

INSTANTIATE_TEST_SUITE_P(StackWalk, StackWalkBesideBpf, testing::Bool(),
                         [](const auto &info) { return info.param ? "at_return" : "at_entry"; });

/// argtrace's own trampoline, through which calls return that are followed.
TEST(StackWalk, calls_that_are_followed) {
    need_argtrace();
    const Comparison comparison;
    comparison.write("trace", walked_functions);
    {
        // A worker of the kernel that sleeps in schedule() keeps the module loaded until there is work for it.
        Background tool({"argtrace", "record", "-r", "-o", "/dev/null", "vfs_*", "*sched*", "!*schedule*", "kmem_cache_*"});
        // The helper has these functions armed as well: only the tool knows when it has.
        ASSERT_TRUE(eventually([&tool] { return tool.err_so_far().find("argtrace: recording ") != std::string::npos; }))
            << tool.err_so_far();
        comparison.run(samples() / 3);
        tool.end(SIGINT);
    }
    comparison.expect_no_difference();
}

} // namespace
} // namespace vmtest
