// SPDX-License-Identifier: GPL-2.0-only
// User stacks against what glibc's backtrace() says in the same place, in the same call: programs/user_stacks.c in several
// compilations. What the module is handed are the tables that the tool makes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <asm/ptrace.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/raw_map.h"
#include "support/user_stacks.h"

namespace vmtest {
namespace {

constexpr std::uint64_t tag = 0x41524754; // of programs/user_stacks.c
constexpr std::size_t deepest = ARGTRACE_STACK_DEPTH_MAX;

/// One stack that the program has looked at.
struct Look {
    std::uint64_t number = 0;
    std::string shape;
    std::vector<std::string> frames;
};

std::vector<Look> looks_of(const std::string &output) {
    std::vector<Look> looks;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        Look look;
        words >> look.number >> look.shape;
        for (std::string frame; words >> frame;)
            look.frames.push_back(frame);
        looks.push_back(look);
    }
    return looks;
}

class UserStackWalk : public testing::TestWithParam<const char *> {
protected:
    void SetUp() override {
        need_argtrace();
        if (!(device_.info().features & ARGTRACE_FEATURE_USER_STACK))
            GTEST_SKIP() << "this kernel has no user stacks";
        ASSERT_EQ(device_.session(), 0);
        stacks_.emplace(device_);
    }

    /// Has the numbers of the program's looks and of their stacks as keys.
    void add_probe() {
        map_.emplace(device_, RawMap::counts(8192, 3));
        SinkProgram program(ARGTRACE_SINK_MAP, map_->description().id);
        // The only argument of such a function is the address of the registers, which are numbered otherwise in user space.
        program.behind(0, offsetof(struct pt_regs, rdi), 8).behind(0, offsetof(struct pt_regs, rsi), 8).source(ARGTRACE_SOURCE_USER_STACK_ID);
        ASSERT_EQ(device_.add(program.probe(address_of("__x64_sys_prctl")).bytes(), 1), 0);
    }

    std::map<std::uint64_t, std::uint64_t> stacks_by_look() const {
        std::map<std::uint64_t, std::uint64_t> ids;
        for (const auto &[key, sum] : map_->read()) {
            if (key[0] == tag) {
                EXPECT_EQ(sum.count, 1u);
                EXPECT_EQ(sum.faults, 0u);
                ids[key[1]] = key[2];
            }
        }
        return ids;
    }

    /// The innermost frame is look() at its system call, of which backtrace() has another instruction.
    void expect_frames(const Look &look, const std::string &program, std::uint64_t id) {
        const auto words = stacks_->find(id);
        ASSERT_TRUE(words) << look.number << ' ' << look.shape;
        std::vector<std::string> frames = stacks_->names(*words);
        ASSERT_FALSE(frames.empty());
        EXPECT_TRUE(frames[0].starts_with("[exact]" + program + "+")) << frames[0];
        frames.erase(frames.begin());
        std::vector<std::string> expected = look.frames;
        expected.resize(std::min(expected.size(), deepest - 1));
        for (std::string &frame : frames) {
            if (frame.starts_with("[exact]"))
                frame.erase(0, 7);
        }
        if (look.shape == "null_call") {
            // Where glibc gives up, since no object has address 0, is the caller on top of the stack.
            ASSERT_GT(frames.size(), expected.size() + 1);
            EXPECT_EQ(frames[expected.size()], "?+0x0");
            EXPECT_TRUE(frames[expected.size() + 1].starts_with(program + "+")) << frames[expected.size() + 1];
            EXPECT_TRUE(frames.back().starts_with(program + "+")) << frames.back();
            frames.resize(expected.size());
        }
        if (expected.size() < frames.size() && look.frames.back() != start_) {
            // Nor do the entries of a static program's linkage table have rules, where the caller is on top of the stack.
            EXPECT_EQ(frames.back(), start_);
            frames.resize(expected.size());
            given_up_++;
        }
        EXPECT_EQ(fmt::format("{}", fmt::join(frames, "\n")), fmt::format("{}", fmt::join(expected, "\n"))) << look.number << ' ' << look.shape;
    }

    RawDevice device_;
    std::string start_;     // the outermost frame of all stacks of the main thread
    unsigned given_up_ = 0; // stacks of which backtrace() has not found all
    std::optional<UserStacks> stacks_;
    std::optional<RawMap> map_;
};

TEST_P(UserStackWalk, equals_backtrace) {
    const std::string program = fmt::format("user_stacks_{}", GetParam()), path = "/root/" + program;
    // So that the object and those that it needs are known, and have their tables.
    ASSERT_EQ(run({path, "1"}).status, 0);
    stacks_->provide_tables();
    add_probe();
    const Outcome outcome = run({path, is_sanitizer_kernel() ? "100" : "400"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::vector<Look> looks = looks_of(outcome.out);
    const auto ids = stacks_by_look();
    std::map<std::string, unsigned> shapes;
    ASSERT_FALSE(looks.empty());
    start_ = looks.front().frames.back();
    EXPECT_GT(looks.size(), 100u);
    for (const Look &look : looks) {
        const auto id = ids.find(look.number);
        ASSERT_NE(id, ids.end()) << look.number << ' ' << look.shape;
        expect_frames(look, program, id->second);
        shapes[look.shape]++;
        if (HasFailure())
            break;
    }
    // The one call through a null pointer aside.
    EXPECT_LE(given_up_, looks.size() / 10);
    EXPECT_EQ(shapes.size(), 18u);
    EXPECT_EQ(stacks_->incomplete(), std::vector<std::uint64_t>(ARGTRACE_END_COUNT));
    std::cout << "  " << looks.size() << " stacks, of which backtrace() has given up " << given_up_ << '\n';
}

INSTANTIATE_TEST_SUITE_P(Programs, UserStackWalk, testing::Values("o0", "o2", "o3", "os", "framed", "static"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace vmtest
