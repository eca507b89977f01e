// SPDX-License-Identifier: GPL-2.0-only
// User stacks against what glibc's backtrace() says in the same place, in the same call: programs/user_stacks.c in several
// compilations. What the module is handed are the tables that the tool makes.
#include <gtest/gtest.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
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

class UserStacksOf : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        if (!(device_.info().features & ARGTRACE_FEATURE_USER_STACK))
            GTEST_SKIP() << "this kernel has no user stacks";
    }

    void begin() {
        ASSERT_EQ(device_.session(), 0);
        stacks_.emplace(device_);
    }

    /// Has the numbers of the program's looks and of their stacks as keys.
    void add_probe() {
        map_.emplace(device_, RawMap::counts(8192, 3));
        SinkProgram program(ARGTRACE_SINK_MAP, map_->description().id);
        // The only argument of such a function is the address of the registers, which are numbered otherwise in user space.
#ifdef __aarch64__
        constexpr int first = 0, second = 8;
#else
        constexpr int first = offsetof(struct pt_regs, rdi), second = offsetof(struct pt_regs, rsi);
#endif
        program.behind(0, first, 8).behind(0, second, 8).source(ARGTRACE_SOURCE_USER_STACK_ID);
        ASSERT_EQ(device_.add(program.probe(address_of(SYSCALL_PREFIX "prctl")).bytes(), 1), 0);
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
        EXPECT_TRUE(frames[0].starts_with(program + "+")) << frames[0];
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
            EXPECT_EQ(frames.back(), start_);
            frames.resize(expected.size());
        }
        if (expected.size() < frames.size() && look.frames.back() != start_) {
            // The entries of linkage tables, which linkers describe on x86-64 alone, and not of static programs, have no rules for it.
            EXPECT_EQ(frames.back(), start_);
            frames.resize(expected.size());
            given_up_++;
        }
        EXPECT_EQ(fmt::format("{}", fmt::join(frames, "\n")), fmt::format("{}", fmt::join(expected, "\n"))) << look.number << ' ' << look.shape;
    }

    /// All of them, of all shapes, and no stack is incomplete.
    void expect_looks(const std::vector<Look> &looks, const std::string &program, std::size_t all_shapes = 18) {
        const auto ids = stacks_by_look();
        std::map<std::string, unsigned> shapes;
        ASSERT_FALSE(looks.empty());
        start_ = looks.front().frames.back();
        for (const Look &look : looks) {
            const auto id = ids.find(look.number);
            ASSERT_NE(id, ids.end()) << look.number << ' ' << look.shape;
            expect_frames(look, program, id->second);
            shapes[look.shape]++;
            if (HasFailure())
                break;
        }
        EXPECT_EQ(shapes.size(), all_shapes);
        EXPECT_EQ(stacks_->incomplete(), std::vector<std::uint64_t>(ARGTRACE_END_COUNT)) << incomplete_stacks();
    }

    /// Those of any call.
    std::string incomplete_stacks() const {
        std::string text;
        for (const auto &[key, sum] : map_->read()) {
            const auto words = stacks_->find(key[2]);
            const std::vector<std::string> names = words ? stacks_->names(*words) : std::vector<std::string>{"END"};
            if (names.back().starts_with("END"))
                text += fmt::format("{:x} {}: {}\n", key[0], key[1], fmt::join(names, " "));
        }
        return text;
    }

    RawDevice device_;
    std::string start_;     // the outermost frame of all stacks of the main thread
    unsigned given_up_ = 0; // stacks of which backtrace() has not found all
    std::optional<UserStacks> stacks_;
    std::optional<RawMap> map_;
};

class UserStackWalk : public UserStacksOf, public testing::WithParamInterface<const char *> {};

TEST_P(UserStackWalk, equals_backtrace) {
    const std::string program = fmt::format("user_stacks_{}", GetParam()), path = "/root/" + program;
    // So that the object and those that it needs are known, and have their tables.
    begin();
    ASSERT_EQ(run({path, "1"}).status, 0);
    stacks_->provide_tables();
    add_probe();
    const Outcome outcome = run({path, is_sanitizer_kernel() ? "100" : "400"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::vector<Look> looks = looks_of(outcome.out);
    EXPECT_GT(looks.size(), 100u);
    expect_looks(looks, program);
    EXPECT_LE(given_up_, is_arm64 || program.ends_with("static") ? looks.size() / 4 : 0);
    std::cout << "  " << looks.size() << " stacks, of which backtrace() has given up " << given_up_ << '\n';
}

class UserStackWalkInMusl : public UserStacksOf, public testing::WithParamInterface<const char *> {};

/// Debian compiles musl without tables and frame pointers: a stack goes up to its function that has called main(), and says that it is incomplete. The
/// shapes are those whose frames are the program's.
TEST_P(UserStackWalkInMusl, equals_frame_pointers_of_the_program) {
    const std::string program = GetParam(), path = "/root/" + program;
    if (is_arm64)
        GTEST_SKIP() << "there is no musl for it here";
    begin();
    ASSERT_EQ(run({path, "1"}).status, 0);
    stacks_->provide_tables();
    add_probe();
    const Outcome outcome = run({path, "20"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::set<std::string> shapes{"plain", "recursion", "too_deep", "realigned", "alloca", "big", "noreturn", "pointer", "table"};
    const auto ids = stacks_by_look();
    unsigned compared = 0;
    for (const Look &look : looks_of(outcome.out)) {
        if (!shapes.contains(look.shape))
            continue;
        const auto id = ids.find(look.number);
        ASSERT_NE(id, ids.end()) << look.shape;
        const auto words = stacks_->find(id->second);
        ASSERT_TRUE(words) << look.shape;
        std::vector<std::string> frames = stacks_->names(*words);
        ASSERT_FALSE(frames.empty());
        frames.erase(frames.begin()); // another instruction of look()
        std::vector<std::string> expected = look.frames;
        if (expected.size() < deepest - 1) {
            EXPECT_TRUE(frames.back().starts_with("END ")) << look.shape << ' ' << frames.back();
            frames.pop_back();
        } else {
            expected.resize(deepest - 1);
        }
        EXPECT_EQ(fmt::format("{}", fmt::join(frames, "\n")), fmt::format("{}", fmt::join(expected, "\n"))) << look.shape;
        compared++;
    }
    EXPECT_EQ(compared, shapes.size());
}

INSTANTIATE_TEST_SUITE_P(Programs, UserStackWalkInMusl, testing::Values("user_stacks_musl", "user_stacks_musl_static"),
                         [](const auto &info) { return std::string(info.param); });

const std::string self = "/root/user_stacks_o2";

/// All stacks are taken away before the calls, and are completed on the way back.
TEST_F(UserStacksOf, memory_that_is_absent) {
    begin();
    if (!stacks_->are_completed())
        GTEST_SKIP() << "this kernel does not tell of the way back to user mode";
    ASSERT_EQ(run({self, "1", "absent"}).status, 0);
    stacks_->provide_tables();
    add_probe();
    const Outcome outcome = run({self, is_sanitizer_kernel() ? "100" : "400", "absent"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::vector<Look> looks = looks_of(outcome.out);
    EXPECT_GT(looks.size(), 100u);
    expect_looks(looks, "user_stacks_o2", 17);
    EXPECT_GE(stacks_->completed(), looks.size() * 9 / 10); // the kernel itself may have needed one in between
    std::cout << "  " << looks.size() << " stacks, " << stacks_->completed() << " of them completed\n";
}

/// Swap space in compressed memory.
struct SwapSpace {
    SwapSpace() { is_there = run({"sh", "-c", "echo 64M >/sys/block/zram0/disksize && mkswap /dev/zram0 >/dev/null && swapon /dev/zram0"}).status == 0; }
    ~SwapSpace() {
        if (is_there) {
            EXPECT_EQ(run({"sh", "-c", "swapoff /dev/zram0 && echo 1 >/sys/block/zram0/reset"}).status, 0);
        }
    }
    bool is_there = false;
};

/// The same in swap space. Pages that others are just using stay.
TEST_F(UserStacksOf, memory_that_is_swapped_out) {
    begin();
    if (!stacks_->are_completed())
        GTEST_SKIP() << "this kernel does not tell of the way back to user mode";
    const SwapSpace swap;
    if (!swap.is_there)
        GTEST_SKIP() << "this kernel has no zram";
    ASSERT_EQ(run({self, "1"}).status, 0);
    stacks_->provide_tables();
    add_probe();
    const Outcome outcome = run({self, "200", "swapped"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::vector<Look> looks = looks_of(outcome.out);
    expect_looks(looks, "user_stacks_o2");
    EXPECT_GE(stacks_->completed(), looks.size() / 2);
    std::cout << "  " << looks.size() << " stacks, " << stacks_->completed() << " of them completed\n";
}

/// A process that is in the middle of its work when the session is made, and one that it has begun since.
TEST_F(UserStacksOf, processes_that_ran_before) {
    ASSERT_EQ(run({"sh", "-c", "rm -f /tmp/go; mkfifo /tmp/go"}).status, 0);
    Background running({"sh", "-c", "cat /tmp/go | " + self + " 20 wait"});
    // It has reached its read when it has been executed.
    ASSERT_TRUE(eventually([] { return run({"sh", "-c", "grep -lx user_stacks_o2 /proc/[0-9]*/comm"}).status == 0; }));
    begin();
    stacks_->provide_tables();
    add_probe();
    ASSERT_EQ(run({"sh", "-c", "echo >/tmp/go"}).status, 0);
    const Outcome outcome = running.wait();
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_looks(looks_of(outcome.out), "user_stacks_o2");
}

/// More than the module looks at in one search: all are known, and nothing is written behind those of one search, which the sanitizer kernel notices.
TEST_F(UserStacksOf, hundreds_of_processes_that_ran_before) {
    constexpr std::uint64_t children = 600;
    int go[2];
    ASSERT_EQ(pipe(go), 0);
    std::vector<pid_t> pids;
    for (std::uint64_t child = 0; child < children; child++) {
        const pid_t pid = fork();
        ASSERT_GE(pid, 0);
        if (pid == 0) {
            char nothing;
            close(go[1]);
            if (read(go[0], &nothing, 1) == 0)
                prctl(static_cast<int>(tag), child, 0, 0, 0);
            _exit(0);
        }
        pids.push_back(pid);
    }
    begin();
    stacks_->provide_tables();
    add_probe();
    close(go[0]);
    close(go[1]);
    for (const pid_t pid : pids)
        EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
    EXPECT_EQ(stacks_by_look().size(), children);
    EXPECT_EQ(stacks_->incomplete(), std::vector<std::uint64_t>(ARGTRACE_END_COUNT)) << incomplete_stacks();
}

/// Each has its own addresses; the stack has one number, and its name when they have gone.
TEST_F(UserStacksOf, processes_that_have_gone) {
    const std::string children = is_sanitizer_kernel() ? "100" : "300";
    begin();
    ASSERT_EQ(run({self, "short"}).status, 0);
    stacks_->provide_tables();
    add_probe();
    ASSERT_EQ(run({self, "children", children}).status, 0);
    std::map<std::uint64_t, std::uint64_t> counts;
    for (const auto &[key, sum] : map_->read()) {
        if (key[0] == tag)
            counts[key[2]] += sum.count;
    }
    ASSERT_EQ(counts.size(), 1u);
    EXPECT_EQ(counts.begin()->second, std::stoull(children));
    const auto words = stacks_->find(counts.begin()->first);
    ASSERT_TRUE(words);
    EXPECT_EQ(words->size(), 8u); // look, third, second, first, main, two of libc's, _start
    EXPECT_TRUE(stacks_->names(*words).back().starts_with("user_stacks_o2+"));
    EXPECT_EQ(stacks_->incomplete(), std::vector<std::uint64_t>(ARGTRACE_END_COUNT));
}

/// One address is code of two files in turn.
TEST_F(UserStacksOf, mappings_that_change) {
    begin();
    ASSERT_EQ(run({self, "remap", "2"}).status, 0);
    stacks_->provide_tables();
    add_probe();
    const Outcome outcome = run({self, "remap", "300"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    stacks_->provide_tables(); // it has written its files anew, so they are other objects, and their names are asked for
    const auto ids = stacks_by_look();
    const std::vector<Look> looks = looks_of(outcome.out);
    ASSERT_EQ(looks.size(), 360u);
    for (const Look &look : looks) {
        const auto id = ids.find(look.number);
        ASSERT_NE(id, ids.end()) << look.number;
        const auto words = stacks_->find(id->second);
        ASSERT_TRUE(words);
        const std::vector<std::string> names = stacks_->names(*words);
        ASSERT_GE(names.size(), 3u);
        EXPECT_EQ(names[1], look.frames[0]) << look.number;
        EXPECT_TRUE(names[2].starts_with("user_stacks_o2+")) << names[2];
    }
}

/// A program that nobody has executed before waits for its table, and its first stack is complete.
TEST_F(UserStacksOf, programs_that_are_executed_for_the_first_time) {
    begin();
    ASSERT_EQ(run({"cp", self, "/tmp/user_stacks_o2"}).status, 0);
    stacks_->provide_tables();
    add_probe();
    stacks_->objects(ARGTRACE_OBJECTS_AWAIT);
    std::atomic<bool> ended = false;
    std::thread provider([this, &ended] {
        while (!ended) {
            stacks_->provide_tables();
            usleep(2000);
        }
    });
    const Outcome outcome = run({"/tmp/user_stacks_o2", "20"});
    ended = true;
    provider.join();
    unlink("/tmp/user_stacks_o2");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_looks(looks_of(outcome.out), "user_stacks_o2");
}

/// Whoever answers is slow, as on a machine with more to do than it can, but at work: a process waits for it.
TEST_F(UserStacksOf, programs_whose_tables_take_long) {
    begin();
    ASSERT_EQ(run({self, "short"}).status, 0);
    stacks_->provide_tables();
    ASSERT_EQ(run({"cp", self, "/tmp/user_stacks_o2"}).status, 0);
    add_probe();
    stacks_->objects(ARGTRACE_OBJECTS_AWAIT);
    std::thread provider([this] {
        for (unsigned milliseconds = 0; milliseconds < 3 * ARGTRACE_TABLE_WAIT_MS; milliseconds += 100) {
            stacks_->objects(ARGTRACE_OBJECTS_AWAIT);
            usleep(100000);
        }
        stacks_->provide_tables();
    });
    const Outcome outcome = run({"/tmp/user_stacks_o2", "20"});
    provider.join();
    unlink("/tmp/user_stacks_o2");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_looks(looks_of(outcome.out), "user_stacks_o2");
}

/// If it is at work for ever, a process goes on all the same.
TEST_F(UserStacksOf, programs_whose_tables_do_not_come) {
    begin();
    ASSERT_EQ(run({self, "short"}).status, 0);
    stacks_->provide_tables();
    ASSERT_EQ(run({"cp", self, "/tmp/user_stacks_o2"}).status, 0);
    std::atomic<bool> ended = false;
    stacks_->objects(ARGTRACE_OBJECTS_AWAIT);
    std::thread provider([this, &ended] {
        while (!ended) {
            stacks_->objects(ARGTRACE_OBJECTS_AWAIT);
            usleep(100000);
        }
    });
    const auto before = std::chrono::steady_clock::now();
    const Outcome outcome = run({"/tmp/user_stacks_o2", "short"});
    ended = true;
    provider.join();
    unlink("/tmp/user_stacks_o2");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(ARGTRACE_TABLE_WAIT_LONGEST_MS));
}

/// If nobody answers, a process waits for so long, and goes on.
TEST_F(UserStacksOf, programs_that_wait_in_vain) {
    begin();
    ASSERT_EQ(run({"cp", self, "/tmp/user_stacks_o2"}).status, 0);
    stacks_->objects(ARGTRACE_OBJECTS_AWAIT);
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(run({"/tmp/user_stacks_o2", "short"}).status, 0);
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(ARGTRACE_TABLE_WAIT_MS));
    unlink("/tmp/user_stacks_o2");
}

/// Where a thread begins, the frame pointer is 0, and a function without one leaves it so: that is not the outermost.
TEST_F(UserStacksOf, threads_of_programs_without_tables) {
    begin();
    ASSERT_EQ(run({self, "library"}).status, 0); // the libraries have tables
    ASSERT_EQ(run({"cp", self, "/tmp/user_stacks_o2"}).status, 0);
    stacks_->provide_tables();
    add_probe();
    ASSERT_EQ(run({"/tmp/user_stacks_o2", "library"}).status, 0);
    unlink("/tmp/user_stacks_o2");
    const auto ids = stacks_by_look();
    ASSERT_EQ(ids.size(), 1u);
    const auto words = stacks_->find(ids.begin()->second);
    ASSERT_TRUE(words);
    const std::vector<std::string> names = stacks_->names(*words);
    EXPECT_GE(names.size(), 3u); // prctl(), in_library()
    if (!is_arm64) {
        EXPECT_EQ(names.back(), fmt::format("END {}", static_cast<int>(ARGTRACE_END_NO_TABLE))) << fmt::format("{}", fmt::join(names, " "));
    }
}

/// Registers that lead anywhere: frames are the task's own or none, and the kernel log stays clean.
TEST_F(UserStacksOf, programs_that_lie) {
    begin();
    ASSERT_EQ(run({self, "short"}).status, 0);
    stacks_->provide_tables();
    add_probe();
    ASSERT_EQ(run({self, "hostile", is_sanitizer_kernel() ? "5000" : "50000"}).status, 0);
    std::uint64_t seen = 0, complete = 0;
    for (const auto &[key, sum] : map_->read()) {
        if (key[0] != tag)
            continue;
        seen += sum.count;
        const auto words = stacks_->find(key[2]);
        if (!words)
            continue; // the table was full
        complete += words->back() >> ARGTRACE_FRAME_OBJECT_SHIFT & ARGTRACE_FRAME_OBJECT_MASK ? sum.count : 0;
        EXPECT_FALSE(words->front() & ARGTRACE_FRAME_EXACT);
    }
    EXPECT_GT(seen, 100u);
    EXPECT_LT(complete, seen / 2);
}

/// Goroutines have stacks of their own, and end where nothing calls. runtime.Callers() has another instruction of the innermost
/// function, which makes the system call by others; and it hides those of its own that call deferred functions.
const std::regex of_assembly("\\.abi0\\b"); // what symbols have at the end of such names

class UserStacksOfGo : public UserStacksOf, public testing::WithParamInterface<const char *> {
protected:
    void expect_go_frames(const Look &look, std::uint64_t id) {
        constexpr std::size_t own = 5, hidden = 2; // at most
        const auto words = stacks_->find(id);
        ASSERT_TRUE(words) << look.number << ' ' << look.shape;
        std::vector<std::string> frames = stacks_->names(*words);
        std::vector<std::string> expected(look.frames.begin() + 1, look.frames.end());
        const auto first = std::find(frames.begin(), frames.end(), expected.front());
        ASSERT_LE(first - frames.begin(), std::ptrdiff_t(own));
        frames.erase(frames.begin(), first);
        if (look.shape == "fault") {
            for (std::string &frame : frames)
                frame = as_if_called(frame);
            // What is inlined in runtime.sigpanic() has a frame of its own.
            EXPECT_LE(std::erase_if(expected, [&frames](const std::string &frame) { return !std::count(frames.begin(), frames.end(), frame); }), 1u);
        }
        if (look.shape == "deferred" || look.shape == "recovered" || look.shape == "fault") {
            ASSERT_LE(frames.size(), expected.size() + hidden);
            std::erase_if(frames, [&expected](const std::string &frame) { return !std::count(expected.begin(), expected.end(), frame); });
        }
        if (look.shape == "system") {
            const auto from = std::find_if(expected.begin(), expected.end(), [](const std::string &frame) { return frame.find('-') != frame.npos; });
            const std::ptrdiff_t at = from - expected.begin();
            ASSERT_LT(at + 1, std::ptrdiff_t(frames.size()));
            // Between the two is what the compiler makes to call a function of assembly from one of Go's.
            frames.erase(frames.begin() + at);
            if (is_within(frames[at], *from))
                *from = frames[at];
        }
        EXPECT_EQ(fmt::format("{}", fmt::join(frames, "\n")), fmt::format("{}", fmt::join(expected, "\n"))) << look.number << ' ' << look.shape;
    }

    /// The runtime has the instruction behind those that did not call, so that one before its frames belongs to the caller.
    static std::string as_if_called(const std::string &frame) {
        constexpr std::string_view exact = "[exact]";
        const auto plus = frame.find('+');
        if (!frame.starts_with(exact) || plus == frame.npos)
            return frame;
        return fmt::format("{}+{:#x}", frame.substr(exact.size(), plus - exact.size()), std::stoull(frame.substr(plus + 1), nullptr, 16) + 1);
    }

    /// "NAME+0xBEGIN-NAME+0xEND": of which only the function is known.
    static bool is_within(const std::string &frame, const std::string &function) {
        const auto dash = function.find('-'), plus = frame.find('+');
        if (dash == function.npos || plus == frame.npos || function.substr(0, plus) != frame.substr(0, plus))
            return false;
        const auto offset = [plus](const std::string &place) { return std::stoull(place.substr(plus + 1), nullptr, 16); };
        return offset(frame) > offset(function) && offset(frame) <= offset(function.substr(dash + 1)) + 1;
    }
};

TEST_P(UserStacksOfGo, equal_those_of_its_runtime) {
    const std::string path = std::string("/root/") + GetParam();
    begin();
    ASSERT_EQ(run({path}).status, 0);
    stacks_->provide_tables();
    add_probe();
    const Outcome outcome = run({path});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto ids = stacks_by_look();
    std::map<std::string, unsigned> shapes;
    for (const Look &look : looks_of(outcome.out)) {
        const auto id = ids.find(look.number);
        ASSERT_NE(id, ids.end()) << look.number << ' ' << look.shape;
        expect_go_frames(look, id->second);
        shapes[look.shape]++;
        if (HasFailure())
            return;
    }
    EXPECT_EQ(shapes.size(), 12u) << outcome.out;
    EXPECT_EQ(stacks_->incomplete(), std::vector<std::uint64_t>(ARGTRACE_END_COUNT));
}

/// Stripping leaves a Go program the names that its own runtime needs.
TEST_P(UserStacksOfGo, have_names) {
    const std::string path = std::string("/root/") + GetParam();
    const Outcome outcome = run({"argtrace", "stacks", "--fold", "--stack=user", "s:prctl", "--", path});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    for (const char *name : {"main.main", "main.first", "main.second", "main.third", "main.lookAt", "main.(*dog).speak", "main.panics.func1"})
        EXPECT_NE(outcome.out.find(name), outcome.out.npos) << name << " in\n" << outcome.out;
    EXPECT_EQ(outcome.out.find(GetParam() + std::string("+0x")), outcome.out.npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("[... "), outcome.out.npos) << outcome.out;
}

/// What the runtime does on the thread's stack, it does for the function whose stack has no more room.
TEST_P(UserStacksOfGo, go_on_where_they_grow) {
    need_uprobes();
    const std::string path = std::string("/root/") + GetParam();
    const Outcome outcome = run({"argtrace", "stacks", "--fold", "--stack=user", "u:" + path + ":runtime.copystack", "--", path});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::size_t grown = 0;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
        line = std::regex_replace(line, of_assembly, "");
        if (line.find("main.grow;") == line.npos)
            continue;
        EXPECT_TRUE(std::regex_match(line, std::regex("(runtime\\.goexit;main\\.main\\.func3|\\[cut\\])(;main\\.grow)+"
                                                      ";runtime\\.morestack;runtime\\.newstack;runtime\\.copystack;u:[^ ]* [0-9]+"))) << line;
        grown++;
    }
    // A thousand times 4,000 bytes, from some thousand on, by doubling.
    EXPECT_GE(grown, 6u) << outcome.out;
    EXPECT_EQ(outcome.out.find("[... "), outcome.out.npos) << outcome.out;
}

/// Go and C, each on a stack of its own, and whose functions call which: see the program.
class UserStacksOfGoWithC : public UserStacksOf, public testing::WithParamInterface<const char *> {};

TEST_P(UserStacksOfGoWithC, have_the_frames_of_both) {
    const std::string path = std::string("/root/") + GetParam();
    const Outcome outcome = run({"argtrace", "stacks", "--fold", "--stack=user", "s:prctl if option == 0x41524754", "--", path});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::string to_c = ";main.outside;main._Cfunc_in_c;runtime.cgocall;runtime.asmcgocall;_cgo_#_Cfunc_in_c;in_c";
    const std::string to_go = ";goAgain;crosscall2;runtime.cgocallback;runtime.cgocallbackg;runtime.cgocallbackg1;_cgoexp_#_goAgain;main.goAgain;main.inside";
    const auto calls = [&](unsigned again) {
        std::string all = to_c;
        for (unsigned i = 0; i < again; i++)
            all += to_go + to_c;
        return all + ";look;syscall";
    };
    const std::string from_main = ";runtime.goexit;runtime.main;main.main";
    std::multiset<std::string> expected, found;
    for (unsigned again = 0; again < 5; again++)
        expected.insert(from_main + calls(again));
    expected.insert(";runtime.goexit;main.main.func1" + calls(2));
    expected.insert(";thread" + to_go + calls(0));
    expected.insert(";thread" + to_go + calls(3));
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
        line = std::regex_replace(line, of_assembly, "");
        line = ';' + std::regex_replace(line, std::regex("(_cgo|_cgoexp)_[0-9a-f]+_"), "$1_#_");
        // Before Go 1.27, assembly calls it through a function of the same name.
        line = std::regex_replace(line, std::regex(";runtime\\.cgocallbackg;runtime\\.cgocallbackg;"), ";runtime.cgocallbackg;");
        // Below are those of the C library; above is the system call.
        const auto begin = std::min(line.find(";runtime.goexit;"), line.find(";thread;")), end = line.find(";syscall");
        ASSERT_NE(begin, line.npos) << line;
        ASSERT_NE(end, line.npos) << line;
        found.insert(line.substr(begin, end - begin) + ";syscall");
    }
    EXPECT_EQ(fmt::format("{}", fmt::join(found, "\n")), fmt::format("{}", fmt::join(expected, "\n"))) << outcome.out;
    EXPECT_EQ(outcome.out.find("[... "), outcome.out.npos) << outcome.out;
}

/// As usual, and to be loaded anywhere.
INSTANTIATE_TEST_SUITE_P(Programs, UserStacksOfGoWithC, testing::Values("user_stacks_cgo", "user_stacks_cgo_pie"),
                         [](const auto &info) { return std::string(info.param); });

INSTANTIATE_TEST_SUITE_P(Programs, UserStacksOfGo, testing::Values("user_stacks_go", "user_stacks_go_stripped", "user_stacks_go_pie"),
                         [](const auto &info) { return std::string(info.param); });

INSTANTIATE_TEST_SUITE_P(Programs, UserStackWalk, testing::Values("o0", "o2", "o3", "os", "framed", "static"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace vmtest
