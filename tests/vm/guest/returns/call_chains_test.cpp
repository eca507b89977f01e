// SPDX-License-Identifier: GPL-2.0-only
// What other tools see of the stack where calls are followed: the chain that is there without us, with one frame of ours between each call
// that is followed and its caller, in processes, softirqs, interrupts and NMIs.
#include "support/call_chains.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "support/architecture.h"
#include "support/command.h"
#include "support/machine.h"
#include "support/tracefs.h"

namespace vmtest {
namespace {

/// What calls acl_called() (argtrace_callers.c), in each context, and some of what calls that.
const std::set<std::string> followed_functions = {"acl_once", "acl_twice", "acl_deep", "acl_in_softirq", "acl_in_interrupt",
                                                  "acl_in_nmi", "call_in_turn", "vfs_write", "ksys_write"};
constexpr unsigned turns_of_chains = 6;

void write_to_callers(const std::string &file, std::uint64_t number) {
    std::ofstream out("/sys/kernel/debug/argtrace_callers/" + file);
    out << number << std::flush;
    EXPECT_TRUE(out.good()) << file;
}

void need_callers() {
    need_argtrace();
    need_module("argtrace_callers");
}

/// The tool, once it follows them. An interrupt or softirq that comes while the tool runs counts as the tool's own calls, hence --include-self.
std::unique_ptr<Background> follow_returns(std::set<std::string> functions) {
    std::vector<std::string> words = {"argtrace", "record", "--include-self", "-r", "-o", "/dev/null"};
    words.insert(words.end(), functions.begin(), functions.end());
    auto tool = std::make_unique<Background>(words);
    EXPECT_TRUE(eventually([&] { return tool->err_so_far().find("argtrace: recording ") != std::string::npos || !tool->is_running(); }));
    EXPECT_TRUE(tool->is_running()) << tool->err_so_far();
    return tool;
}

bool is_of_argtrace(const std::string &frame) {
    return frame.ends_with(" [argtrace]");
}

bool is_ours(const std::string &frame) {
    return frame.starts_with("argtrace_return_") && is_of_argtrace(frame);
}

/// The chain without our frames. Expects that they are where calls are followed, and nowhere else. `is_first`: what is followed has been
/// called by a function before the chain's first one.
CallChain without_ours(const CallChain &chain, const std::set<std::string> &followed, bool is_first = false) {
    CallChain others;
    for (std::size_t i = 0; i < chain.size(); i++) {
        const bool is_followed = i > 0 ? followed.contains(function_of(chain[i - 1])) : is_first;
        EXPECT_EQ(is_ours(chain[i]), is_followed) << testing::PrintToString(chain);
        if (!is_ours(chain[i]))
            others.push_back(chain[i]);
    }
    return others;
}

/// What a call of acl_called() came from.
struct ChainsOfCalls {
    /// Up to where the context begins: in processes all.
    std::set<CallChain> heads;
    /// What softirqs, interrupts and NMIs have interrupted, if that is the task that they were sent by, from there on where it is known.
    std::set<CallChain> interrupted;
};

bool begins_context(const std::string &function) {
    return function == "handle_softirqs" || function == "__do_softirq" || function == "exc_nmi" || function == "el1h_64_irq" || function.starts_with("asm_");
}

/// Whether a chain has who called acl_called(). Where a kprobe is at its beginning, on arm64, that is in x30 alone, which the kernel's unwinder
/// does not look at.
enum class Caller { present, absent };

/// What comes behind acl_called() in each chain. `followed`: our frames are checked, and taken away. All that calls it is followed.
ChainsOfCalls chains_of_calls(const std::vector<CallChain> &chains, const std::set<std::string> &followed, Caller caller) {
    const bool is_first = caller == Caller::absent && !followed.empty();
    ChainsOfCalls calls;
    for (const CallChain &chain : chains) {
        // Kprobes have their own frames before it.
        const auto called = std::find_if(chain.rbegin(), chain.rend(), [](const auto &frame) { return function_of(frame) == "acl_called"; });
        const auto begin = called == chain.rend() ? chain.begin() : called.base();
        const auto context = std::find_if(begin, chain.end(), [](const auto &frame) { return begins_context(function_of(frame)); });
        const auto turn = std::find_if(context, chain.end(), [](const auto &frame) { return function_of(frame) == "call_in_turn"; });
        calls.heads.insert(without_ours({begin, context == chain.end() ? context : context + 1}, followed, is_first));
        if (turn == chain.end())
            continue;
        CallChain interrupted = without_ours({turn, chain.end()}, followed);
        interrupted.erase(interrupted.begin()); // it may be anywhere in call_in_turn()
        calls.interrupted.insert(interrupted);
    }
    return calls;
}

/// `call` has acl_called() called and returns the chains; that is done without us, and then with us.
void expect_the_same_chains(const std::function<std::vector<CallChain>()> &call, std::set<std::string> also = {},
                            Caller caller = Caller::present) {
    const auto plain_chains = call();
    const ChainsOfCalls plain = chains_of_calls(plain_chains, {}, caller);
    also.insert(followed_functions.begin(), followed_functions.end());
    const auto tool = follow_returns(also);
    const auto followed_chains = call();
    EXPECT_EQ(tool->end(SIGINT).status, 0);
    const ChainsOfCalls followed = chains_of_calls(followed_chains, followed_functions, caller);

    EXPECT_EQ(followed.heads, plain.heads);
    EXPECT_EQ(followed.interrupted, plain.interrupted) << testing::PrintToString(followed_chains);
    EXPECT_EQ(plain.interrupted.size(), 1u) << "nothing has interrupted the task";
    std::set<std::string> callers;
    for (const CallChain &head : plain.heads) {
        ASSERT_FALSE(head.empty());
        callers.insert(function_of(head.front()));
    }
    std::set<std::string> expected{"acl_once", "acl_twice", "acl_deep", "acl_in_softirq", "acl_in_interrupt"};
    if (has_nmis)
        expected.insert("acl_in_nmi");
    if (caller == Caller::absent)
        expected = {"acl_deep", "call_in_turn", "on_timer", "on_interrupt"}; // what has called these, and acl_deep() itself
    EXPECT_EQ(callers, expected);
    std::size_t ours = 0;
    for (const CallChain &chain : followed_chains)
        ours += std::count_if(chain.begin(), chain.end(), is_ours);
    EXPECT_GT(ours, 0u);
    std::cout << followed_chains.size() << " chains, " << plain.heads.size() << " different ones, " << ours << " frames of ours\n";
}

TEST(CallChains, as_stack_trace_save_has_them) {
    need_callers();
    expect_the_same_chains([] {
        write_to_callers("run", turns_of_chains);
        std::vector<CallChain> chains;
        std::istringstream lines(read_file("/sys/kernel/debug/argtrace_callers/stacks"));
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::string word;
            std::getline(words, word, '\t'); // how many calls
            chains.emplace_back();
            while (std::getline(words, word, '\t'))
                chains.back().push_back(without_size(word));
        }
        return chains;
    });
}

TEST(CallChains, as_dump_stack_has_them) {
    need_callers();
    expect_the_same_chains([] {
        EXPECT_EQ(run({"dmesg", "-C"}).status, 0);
        write_to_callers("dump", 1);
        write_to_callers("run", 3);
        write_to_callers("dump", 0);
        return chains_of_log();
    });
}

/// A kprobe at acl_called(), for as long as it is there.
class KprobeOfCalled {
public:
    KprobeOfCalled() { EXPECT_EQ(write_tracefs("kprobe_events", "p:chains/called acl_called\n"), 0); }
    ~KprobeOfCalled() { EXPECT_EQ(write_tracefs("kprobe_events", "-:chains/called\n"), 0); }
    KprobeOfCalled(const KprobeOfCalled &) = delete;
    KprobeOfCalled &operator=(const KprobeOfCalled &) = delete;

    static std::uint64_t id() { return std::stoull(read_file(tracing_directory + "events/chains/called/id")); }
};

/// Also where the function that has the kprobe is followed itself: our frame is not there yet.
class CallChainsOfKprobes : public testing::TestWithParam<bool> {
protected:
    void SetUp() override { need_callers(); }

    static constexpr Caller caller = is_arm64 ? Caller::absent : Caller::present;

    static std::set<std::string> also() { return GetParam() ? std::set<std::string>{"acl_called"} : std::set<std::string>{}; }
};

TEST_P(CallChainsOfKprobes, as_a_trigger_has_them) {
    const KprobeOfCalled kprobe;
    // For all of them, whatever size each CPU's has had until now.
    EXPECT_EQ(write_tracefs("buffer_size_kb", "1408"), 0);
    EXPECT_EQ(write_tracefs("options/sym-offset", "1"), 0);
    EXPECT_EQ(write_tracefs("events/chains/called/trigger", "stacktrace"), 0);
    expect_the_same_chains(
        [] {
            close(open((tracing_directory + "trace").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
            write_to_callers("run", turns_of_chains);
            return chains_of_trace();
        },
        also(), caller);
    EXPECT_EQ(write_tracefs("events/chains/called/trigger", "!stacktrace"), 0);
    EXPECT_EQ(write_tracefs("options/sym-offset", "0"), 0);
    close(open((tracing_directory + "trace").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
}

TEST_P(CallChainsOfKprobes, as_perf_has_them) {
    const KprobeOfCalled kprobe;
    PerfChains perf(PERF_TYPE_TRACEPOINT, KprobeOfCalled::id(), 1);
    expect_the_same_chains(
        [&] {
            write_to_callers("run", turns_of_chains);
            return perf.take();
        },
        also(), caller);
}

INSTANTIATE_TEST_SUITE_P(Called, CallChainsOfKprobes, testing::Bool(),
                         [](const auto &info) { return info.param ? "followed_itself" : "not_followed"; });

/// From the caller of fail_set() on, which calls acl_fail(); empty where the task is not there.
CallChain behind_fail_set(const CallChain &chain) {
    const auto at = std::find_if(chain.begin(), chain.end(), [](const auto &frame) { return function_of(frame) == "fail_set"; });
    return at == chain.end() ? CallChain() : CallChain(at + 1, chain.end());
}

/// Chains of a task that calls acl_fail(), which returns at once, so that much of its time is in our trampoline and in what that calls.
/// They are sampled wherever it is: from where they are known to the end they must be the same.
void expect_the_same_samples(std::size_t enough, const std::function<std::vector<CallChain>()> &sample) {
    const auto collect = [&](const std::set<std::string> &followed) {
        std::map<CallChain, std::size_t> seen;
        std::size_t count = 0, in_ours = 0;
        sample(); // what is left of before
        const Child caller([] {
            for (;;)
                write_to_callers("fail", 20000);
        });
        EXPECT_TRUE(eventually([&] {
            for (const CallChain &chain : sample()) {
                const CallChain known = behind_fail_set(chain);
                if (known.empty()) {
                    // Another task has been sampled, then, unless the chain ends too early.
                    EXPECT_FALSE(!chain.empty() && (is_of_argtrace(chain.back()) || function_of(chain.back()) == "acl_fail"))
                        << testing::PrintToString(chain);
                    continue;
                }
                count++;
                in_ours += is_of_argtrace(chain.front());
                seen[without_ours(known, followed)]++;
            }
            return count >= enough && (followed.empty() || in_ours > 0);
        }));
        std::cout << count << " samples, " << in_ours << " of them in us\n";
        return seen;
    };
    const auto plain = collect({});
    const std::set<std::string> followed = {"acl_fail", "vfs_write", "ksys_write"};
    const auto tool = follow_returns(followed);
    const auto ours = collect(followed);
    EXPECT_EQ(tool->end(SIGINT).status, 0);
    ASSERT_EQ(plain.size(), 1u) << testing::PrintToString(plain);
    ASSERT_EQ(ours.size(), 1u) << testing::PrintToString(ours);
    EXPECT_EQ(ours.begin()->first, plain.begin()->first);
}

/// Samples are taken in an interrupt.
TEST(CallChains, as_perf_samples_them) {
    need_callers();
    PerfChains perf(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000);
    expect_the_same_samples(is_sanitizer_kernel() ? 50 : 500, [&] { return perf.take(); });
}

/// These are made in NMIs.
TEST(CallChains, as_backtraces_of_all_cpus_have_them) {
    need_callers();
    expect_the_same_samples(is_long_run() && !is_sanitizer_kernel() ? 20 : 5, [] {
        EXPECT_EQ(run({"dmesg", "-C"}).status, 0);
        std::ofstream("/proc/sysrq-trigger") << 'l' << std::flush;
        return chains_of_log();
    });
}

} // namespace
} // namespace vmtest
