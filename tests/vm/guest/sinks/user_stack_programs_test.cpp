// SPDX-License-Identifier: GPL-2.0-only
// User stacks of programs as they are, against elfutils, which unwinds the same process at the same instructions and system calls.
#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "references/stopped_process.h"
#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/raw_map.h"
#include "support/user_stacks.h"

namespace vmtest {
namespace {

using Frames = std::vector<std::string>;
using CountedStacks = std::map<Frames, std::uint64_t>;

/// One program that never ends, and says on standard output when it is ready.
struct EndlessProgram {
    const char *name;
    std::vector<std::string> command;
    /// Stacks for a thousand that need not be complete.
    unsigned incomplete;
};

/// The stacks of a program that runs.
class UserStacksOfRunning : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        if (!(device_.info().features & ARGTRACE_FEATURE_USER_STACK))
            GTEST_SKIP() << "this kernel has no user stacks";
    }

    void start(const std::vector<std::string> &command) {
        program_.emplace(command);
        ASSERT_TRUE(eventually([this] { return !program_->out_so_far().empty(); })) << program_->err_so_far();
        ASSERT_EQ(device_.session(), 0);
        stacks_.emplace(device_, 16384);
        stacks_->provide_tables();
    }

    /// Adds up the stacks with which a function is called.
    void count_calls(const char *function, std::optional<int> signal) {
        map_.emplace(device_, RawMap::counts(16384, 1));
        SinkProgram program(ARGTRACE_SINK_MAP, map_->description().id);
        if (signal)
            program.only(0, every_bit, static_cast<std::uint64_t>(*signal));
        program.source(ARGTRACE_SOURCE_USER_STACK_ID);
        ASSERT_EQ(device_.add(program.probe(address_of(function)).bytes(), 1), 0);
    }

    CountedStacks counted() const {
        CountedStacks found;
        for (const auto &[key, sum] : map_->read()) {
            const auto words = stacks_->find(key[0]);
            EXPECT_TRUE(words) << "the table was full";
            if (words)
                found[stacks_->names(*words)] += sum.count;
        }
        return found;
    }

    RawDevice device_;
    std::optional<Background> program_;
    std::optional<UserStacks> stacks_;
    std::optional<RawMap> map_;
};

class UserStacksOfPrograms : public UserStacksOfRunning, public testing::WithParamInterface<EndlessProgram> {
protected:
    void SetUp() override {
        UserStacksOfRunning::SetUp();
        if (IsSkipped())
            return;
        if (is_arm64)
            GTEST_SKIP() << "elfutils goes astray in linkage tables of arm64, which nothing describes";
        start(GetParam().command);
        EXPECT_EQ(program_->out_so_far(), "ready\n");
    }

    static std::uint64_t total(const CountedStacks &stacks) {
        std::uint64_t sum = 0;
        for (const auto &[frames, count] : stacks)
            sum += count;
        return sum;
    }

    /// A stack that elfutils has given up agrees with any that begins like it: the entries of linkage tables and clone() have no
    /// rules, but have their caller on top of the stack.
    static bool agrees(const Frames &frames, const Frames &other) {
        if (other.back() != "END")
            return frames == other;
        return frames.size() >= other.size() && std::equal(other.begin(), other.end() - 1, frames.begin());
    }

    /// Equal stacks first, then those that agree.
    void expect_equal(CountedStacks expected, CountedStacks found) {
        const std::uint64_t all = total(expected);
        std::uint64_t incomplete = 0, given_up = 0;
        EXPECT_EQ(total(found), all);
        for (auto &[frames, count] : found) {
            if (const auto same = expected.find(frames); same != expected.end()) {
                const std::uint64_t less = std::min(count, same->second);
                count -= less, same->second -= less;
            }
        }
        for (auto &[frames, count] : found) {
            for (auto &[other, times] : expected) {
                const std::uint64_t less = agrees(frames, other) ? std::min(count, times) : 0;
                count -= less, times -= less, given_up += less;
            }
            if (frames.back().starts_with("END "))
                incomplete += count;
            else
                EXPECT_EQ(count, 0u) << "this stack is not what elfutils has found:\n  " << fmt::format("{}", fmt::join(frames, "\n  "));
            if (HasFailure())
                return show(frames, expected);
        }
        std::uint64_t counted = 0;
        for (const std::uint64_t number : stacks_->incomplete())
            counted += number;
        EXPECT_LE(counted, all * GetParam().incomplete / 1000);
        EXPECT_LE(incomplete, counted);
        std::cout << "  " << all << " stacks, " << found.size() << " different; incomplete " << counted << ", given up by elfutils " << given_up << '\n';
    }

    static void show(const Frames &frames, const CountedStacks &expected) {
        for (const auto &[other, times] : expected)
            if (times > 0 && other[0] == frames[0])
                std::cout << " but " << times << " of:\n  " << fmt::format("{}", fmt::join(other, "\n  ")) << '\n';
    }
};

TEST_P(UserStacksOfPrograms, are_right_at_every_instruction) {
    StoppedProcess process(program_->pid());
    count_calls("force_sig_fault", SIGTRAP);
    std::mt19937 random(1);
    CountedStacks expected;
    const unsigned bursts = is_sanitizer_kernel() ? 10 : 40;
    for (unsigned burst = 0; burst < bursts; burst++) {
        ASSERT_TRUE(process.run_on(random() % 20000));
        for (unsigned step = 0; step < 50; step++) {
            ASSERT_TRUE(process.step());
            expected[process.stack(ARGTRACE_STACK_DEPTH_MAX)]++;
        }
    }
    EXPECT_GT(expected.size(), 100u);
    expect_equal(expected, counted());
}

TEST_P(UserStacksOfPrograms, are_right_at_every_system_call) {
    StoppedProcess process(program_->pid());
    count_calls("ptrace_notify", std::nullopt);
    CountedStacks expected;
    const unsigned calls = is_sanitizer_kernel() ? 200 : 1000;
    for (unsigned call = 0; call < calls; call++) {
        ASSERT_TRUE(process.to_syscall());
        expected[process.stack(ARGTRACE_STACK_DEPTH_MAX)]++;
    }
    expect_equal(expected, counted());
}

using UserStacksOfCode = UserStacksOfRunning;

/// At each instruction of code without a table its caller is the next frame, also where there is no frame yet, none any more, or never one: the frame
/// pointer would lead to the caller's caller.
TEST_F(UserStacksOfCode, without_tables_are_right_at_every_instruction) {
    start({"/root/user_stacks_jumps"});
    std::istringstream words(program_->out_so_far());
    std::string caller;
    std::uint64_t last = 0;
    words >> caller >> std::hex >> last;
    ASSERT_TRUE(caller.starts_with("user_stacks_jumps+0x")) << caller;
    StoppedProcess process(program_->pid());
    count_calls("force_sig_fault", SIGTRAP);
    for (unsigned step = 0; step < 1000; step++)
        ASSERT_TRUE(process.step());
    // In that memory: frames that were interrupted and such that have called, by their offsets in their function's 64 bytes.
    std::map<std::string, std::uint64_t> places;
    for (const auto &[frames, count] : counted()) {
        for (std::size_t at = 0; at < frames.size(); at++) {
            const auto plus = frames[at].find("?+0x");
            const std::uint64_t offset = plus == std::string::npos ? 0 : std::stoull(frames[at].substr(plus + 4), nullptr, 16) - (last - 4095);
            if (offset >= 4096 || plus == std::string::npos)
                continue;
            ASSERT_LT(at + 1, frames.size()) << frames[at];
            EXPECT_EQ(frames[at + 1], caller) << fmt::format("+0x{:x}", offset) << "\n  " << fmt::format("{}", fmt::join(frames, "\n  "));
            places[fmt::format("{}+0x{:x}", at == 0 ? "" : "called ", offset)] += count;
        }
        EXPECT_FALSE(frames.back().starts_with("END")) << fmt::format("{}", fmt::join(frames, "\n  "));
    }
    // The instructions of the four pieces, and the two places behind calls.
    EXPECT_EQ(places.size(), is_arm64 ? 22u : 21u) << fmt::format("{}", fmt::join(places, " "));
}

INSTANTIATE_TEST_SUITE_P(Programs, UserStacksOfPrograms,
                         testing::Values(EndlessProgram{"python", {"sh", "-c", "tar -xf python_library.tar && exec env PYTHONHOME=/root ./python3 -S work.py"}, 0},
                                         EndlessProgram{"perl", {"/root/perl", "/root/work.pl"}, 0},
                                         EndlessProgram{"bash", {"bash", "/root/work.bash"}, 0},
                                         // While the unwinder changes the stack that it returns to.
                                         EndlessProgram{"exceptions", {"/root/user_stacks_thrown"}, 40}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace vmtest
