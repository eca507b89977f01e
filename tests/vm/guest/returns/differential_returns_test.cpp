// SPDX-License-Identifier: GPL-2.0-only
// A mixed load, functions that it calls, and two that follow these until they return: argtrace must see the same calls as the
// other one, thread by thread and in the order in which they return, with the same values. Whatever the order in which they were armed,
// the other one's frame lies around argtrace's: it sees a call return later, and takes it for longer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "references/reference.h"
#include "support/architecture.h"
#include "support/command.h"
#include "support/machine.h"
#include "support/mixed_load.h"
#include "support/prototypes.h"
#include "support/shown.h"
#include "support/tracefs.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

// Only processes call them. No kernel has all, and some tasks have argtrace wait that sleep in others.
constexpr const char *wanted_functions[] = {
    "vfs_read", "vfs_write", "vfs_open", "do_filp_open", "getname_flags", "ksys_read", "ksys_write", "rw_verify_area", "vfs_statx",
    "do_sys_openat2", "kernel_clone", "vfs_fstat", "filp_close", "vfs_unlink", "vfs_mkdir", "do_mmap", "vm_mmap_pgoff", "do_faccessat",
    "expand_files", "path_openat", "vfs_getattr", "security_file_open", "access_error", "vfs_truncate", "handle_mm_fault"};
constexpr int nr_return_rounds = 1;
const std::string returns_list_file = "/tmp/differential.returns";

/// The two read the same clock at different moments, or clocks that run alike.
constexpr std::uint64_t slack_us = 10;

struct OurReturn {
    std::string function, line;
    json ret;
    std::uint64_t returned_ns = 0, duration_ns = 0;
};
using OurReturns = std::map<pid_t, std::vector<OurReturn>>;

/// Those that can be traced here, with a result that is a number or a pointer.
std::vector<KernelFunction> functions_with_results(const Symbols &symbols) {
    const KernelBtf btf;
    std::set<std::string> available;
    std::istringstream lines(read_file(tracing_directory + "available_filter_functions"));
    for (std::string line; std::getline(lines, line);)
        available.insert(line);
    std::vector<KernelFunction> found;
    for (const char *name : wanted_functions) {
        auto function = btf.function(name);
        if (symbols.count(name) == 1 && available.contains(name) && function && function->result)
            found.push_back(std::move(*function));
    }
    return found;
}

OurReturns our_returns(const std::string &out, const std::set<pid_t> &threads) {
    OurReturns returns;
    std::istringstream events(out);
    for (std::string line; std::getline(events, line);) {
        const json event = json::parse(line, nullptr, false);
        EXPECT_FALSE(event.is_discarded()) << line;
        if (event.contains("shown")) // the totals, at the end
            continue;
        const pid_t tid = event["tid"];
        const std::uint64_t duration = event["duration"];
        if (threads.contains(tid))
            returns[tid].push_back({event["func"], line, event["ret"], event["ts"].get<std::uint64_t>() + duration, duration});
    }
    return returns;
}

/// What compares a call of both, once it is known to be the same.
using CompareCall = void (*)(const OurReturn &, const ReferenceCall &, const KernelFunction &, const Symbols &);

void compare_value_and_time(const OurReturn &ours, const ReferenceCall &theirs, const KernelFunction &function, const Symbols &symbols) {
    ASSERT_TRUE(shows(ours.ret, *function.result, theirs.values.at(0), symbols));
    ASSERT_LE(ours.returned_ns / 1000, theirs.us + slack_us);
}

void compare_duration(const OurReturn &ours, const ReferenceCall &theirs, const KernelFunction &, const Symbols &) {
    ASSERT_LE(ours.duration_ns / 1000, theirs.us + theirs.us / 100 + slack_us);
}

void compare_returns(const std::vector<OurReturn> &ours, const std::vector<const ReferenceCall *> &theirs,
                     const std::map<std::string, KernelFunction> &functions, const Symbols &symbols, CompareCall compare) {
    for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); i++) {
        SCOPED_TRACE("argtrace:  " + (i < ours.size() ? ours[i].line : "no further call") +
                     "\nreference: " + (i < theirs.size() ? theirs[i]->line : "no further call"));
        ASSERT_LT(i, ours.size());
        ASSERT_LT(i, theirs.size());
        ASSERT_EQ(ours[i].function, theirs[i]->function);
        ASSERT_NO_FATAL_FAILURE(compare(ours[i], *theirs[i], functions.at(ours[i].function), symbols));
    }
}

void compare_with(Reference &reference, bool reference_first, CompareCall compare) {
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    static const Symbols symbols;
    static const std::vector<KernelFunction> wanted = functions_with_results(symbols);
    std::map<std::string, KernelFunction> functions;
    ASSERT_GE(wanted.size(), std::size(wanted_functions) / 2);
    std::ofstream list(returns_list_file);
    for (const KernelFunction &function : wanted) {
        functions[function.name] = function;
        list << "vmlinux:" << function.name << "\n";
    }
    list.close();
    const auto arm_ours = [] {
        const Outcome added = run({"argtrace", "add", "-r", "--clock", "mono", "--buffer", "8M", "@" + returns_list_file});
        EXPECT_EQ(added.status, 0) << added.err;
    };
    if (!reference_first)
        arm_ours();
    EXPECT_EQ(reference.arm(wanted).size(), wanted.size());
    if (reference_first)
        arm_ours();

    const std::set<pid_t> threads = do_mixed_load_rounds("/tmp/differential", nr_return_rounds);
    reference.pause();
    const Outcome trace = run({"argtrace", "trace", "--json", "--duration", "0.01"});
    EXPECT_EQ(trace.status, 0) << trace.err;
    EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
    const std::vector<ReferenceCall> seen = reference.calls(wanted);
    reference.disarm();

    const OurReturns ours = our_returns(trace.out, threads);
    std::map<pid_t, std::vector<const ReferenceCall *>> theirs;
    std::size_t calls = 0;
    for (const ReferenceCall &call : seen) {
        if (threads.contains(call.tid))
            theirs[call.tid].push_back(&call);
    }
    for (const auto &[tid, returns] : ours) {
        calls += returns.size();
        ASSERT_NO_FATAL_FAILURE(compare_returns(returns, theirs[tid], functions, symbols, compare));
        theirs.erase(tid);
    }
    for (const auto &[tid, returns] : theirs)
        ASSERT_NO_FATAL_FAILURE(compare_returns({}, returns, functions, symbols, compare));
    std::printf("compared %zu functions, %zu calls, %zu threads\n", wanted.size(), calls, ours.size());
    EXPECT_GT(calls, 300u);
}

/// Whether the other one is armed first.
class DifferentialReturns : public testing::TestWithParam<bool> {
protected:
    void SetUp() override { need_argtrace(); }
};

TEST_P(DifferentialReturns, the_same_calls_and_values_as_fprobe_events) {
    if (!has_fprobe())
        GTEST_SKIP() << "this kernel is built without CONFIG_FPROBE: it has no fprobe events";
    compare_with(*fprobe_return_reference(), GetParam(), compare_value_and_time);
}

TEST_P(DifferentialReturns, the_same_calls_and_values_as_kretprobe_events) {
    compare_with(*kretprobe_reference(), GetParam(), compare_value_and_time);
}

TEST_P(DifferentialReturns, no_longer_than_function_graph_says) {
    if (!follows_beside_others)
        GTEST_SKIP() << "calls of functions that function_graph has, too, are not followed";
    compare_with(*function_graph_reference(), GetParam(), compare_duration);
}

INSTANTIATE_TEST_SUITE_P(Others, DifferentialReturns, testing::Bool(),
                         [](const auto &info) { return info.param ? "first" : "second"; });

} // namespace
} // namespace vmtest
