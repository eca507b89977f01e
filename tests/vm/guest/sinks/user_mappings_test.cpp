// SPDX-License-Identifier: GPL-2.0-only
// Stacks of processes that are gone, and of code whose place is another file's a moment later, as the tool itself shows them. Which process
// has executed what, and which library has called, is known to the programs that do so (programs/user_stacks_storm.c and _loader.c), and what
// the functions are called was decided when they were compiled.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

const std::array<std::string, 4> names = {"alpha", "beta", "gamma", "delta"};
const std::string folder = "/tmp/mappings", list_path = "/tmp/mappings/list", output_path = "/tmp/mappings/output";
const std::string call_of_marks = "s:prctl(option, arg2) if option == 0x41524755";

/// "alpha_inner+0x12c" without the offset.
std::string function_of(const std::string &frame) {
    return frame.substr(0, frame.find('+'));
}

std::vector<std::string> functions_of(const json &stack) {
    std::vector<std::string> functions;
    for (const auto &frame : stack)
        functions.push_back(function_of(frame));
    return functions;
}

std::uint64_t sum_of(const json &counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}, [](std::uint64_t sum, const auto &count) { return sum + count.template get<std::uint64_t>(); });
}

class UserMappings : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        if (!(RawDevice().info().features & ARGTRACE_FEATURE_USER_STACK))
            GTEST_SKIP() << "this kernel has no user stacks";
        ASSERT_EQ(run({"rm", "-rf", folder}).status, 0);
        ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
    }
    void TearDown() override { run({"rm", "-rf", folder}); }

    /// One process in `copies` executes a file that is removed at once.
    static Words storm(unsigned count, unsigned copies) {
        Words words = {"/root/user_stacks_storm", list_path, folder, std::to_string(count), std::to_string(copies)};
        for (const std::string &name : names)
            words.push_back("/root/user_stacks_" + name);
        return words;
    }

    static Outcome traced(Words words, const Words &command) {
        words.push_back("--");
        words.insert(words.end(), command.begin(), command.end());
        return run(words);
    }

    /// Which program each process has executed, by its name.
    static std::map<unsigned, std::string> executed() {
        std::map<unsigned, std::string> programs;
        std::ifstream list(list_path);
        for (unsigned pid, number; list >> pid >> number;)
            EXPECT_TRUE(programs.emplace(pid, names.at(number - 1)).second) << pid << " is there twice";
        return programs;
    }

    /// From the function with the call to where a program begins.
    static void expect_program(const json &stack, const std::string &name) {
        const std::vector<std::string> functions = functions_of(stack);
        ASSERT_GE(functions.size(), 4u) << stack.dump();
        EXPECT_EQ(functions[0], name + "_inner") << stack.dump();
        EXPECT_EQ(functions[1], name + "_outer") << stack.dump();
        EXPECT_EQ(functions[2], "main") << stack.dump();
        EXPECT_EQ(functions.back(), "_start") << stack.dump();
    }

    static void expect_nothing_lost(const json &summary) {
        for (const char *what : {"user_stacks_lost", "user_stacks_incomplete", "user_mappings_lost"})
            EXPECT_EQ(sum_of(summary.at(what)), 0u) << summary.dump();
    }

    static void expect_events(const std::vector<json> &events, unsigned count) {
        std::map<unsigned, std::string> programs = executed();
        ASSERT_EQ(programs.size(), count);
        EXPECT_EQ(events.size(), count);
        for (const json &event : events) {
            const auto program = programs.find(event.at("pid").get<unsigned>());
            ASSERT_NE(program, programs.end()) << event.dump();
            ASSERT_NO_FATAL_FAILURE(expect_program(event.at("user_stack"), program->second));
            EXPECT_EQ(names.at(event.at("args").at("arg2").get<unsigned>() - 1), program->second) << event.dump();
            programs.erase(program);
            if (HasFailure())
                return;
        }
        EXPECT_TRUE(programs.empty());
    }
};

/// All of them traced, and named when they have gone.
TEST_F(UserMappings, of_short_processes_that_are_traced) {
    // Ten thousand take two minutes of an emulated processor.
    const unsigned count = is_sanitizer_kernel() ? 500 : is_long_run() ? 10000 : 300;
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = traced({"argtrace", "trace", "--stack=user", "--json", "-F", call_of_marks}, storm(count, 10));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::cout << "  " << count << " processes in " << std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() << " s\n";
    expect_nothing_lost(json_summary(outcome.out));
    expect_events(json_lines(outcome.out), count);
}

/// Counted by their stacks, in the kernel.
TEST_F(UserMappings, of_short_processes_that_are_counted) {
    const unsigned count = is_sanitizer_kernel() ? 200 : is_long_run() ? 2000 : 150;
    const Outcome outcome = traced({"argtrace", "stacks", "--stack=user", "--json", "-F", "s:prctl if option == 0x41524755"}, storm(count, 5));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::map<std::string, std::uint64_t> expected, seen;
    for (const auto &[pid, name] : executed())
        expected[name]++;
    std::uint64_t added = 0;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
        const json entry = json::parse(line);
        if (entry.contains("added")) {
            added = entry.at("added");
            expect_nothing_lost(entry);
        }
        if (!entry.contains("user_stack"))
            continue;
        const json &stack = entry.at("user_stack");
        const std::string name = function_of(stack.at(0));
        ASSERT_NO_FATAL_FAILURE(expect_program(stack, name.substr(0, name.find('_'))));
        seen[name.substr(0, name.find('_'))] += entry.at("count").get<std::uint64_t>();
    }
    EXPECT_EQ(added, count);
    EXPECT_EQ(seen, expected) << outcome.out.substr(0, 1000);
}

/// Read from a recording when the files, too, have gone.
TEST_F(UserMappings, of_short_processes_that_are_recorded) {
    const unsigned count = is_sanitizer_kernel() ? 200 : is_long_run() ? 1000 : 100;
    const Outcome recorded = traced({"argtrace", "record", "--stack=user", "-o", output_path, "-F", call_of_marks}, storm(count, 3));
    ASSERT_EQ(recorded.status, 0) << recorded.err;
    const Outcome outcome = run({"argtrace", "report", "--json", output_path});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_events(json_lines(outcome.out), count);
}

/// What the loader says of a call.
struct LibraryCall {
    std::string name, how, address;
};

class UserLibraries : public UserMappings {
protected:
    void SetUp() override {
        UserMappings::SetUp();
        if (IsSkipped())
            return;
        for (const char *name : {"port", "star"})
            ASSERT_EQ(run({"cp", fmt::format("/root/user_stacks_{}.so", name), folder}).status, 0);
    }

    static std::map<unsigned, LibraryCall> calls_of(const std::string &text) {
        std::map<unsigned, LibraryCall> calls;
        std::istringstream lines(text);
        LibraryCall call;
        for (unsigned number; lines >> number >> call.name >> call.how >> call.address;)
            calls[number] = call;
        return calls;
    }
};

TEST_F(UserLibraries, that_are_mapped_at_one_address_in_turn) {
    const unsigned times = is_sanitizer_kernel() ? 100 : 400;
    const Outcome outcome = traced({"argtrace", "trace", "--stack=user", "--json", "-F", call_of_marks},
                                   {"sh", "-c", fmt::format("exec /root/user_stacks_loader {} {} >{}", folder, times, list_path)});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::map<unsigned, LibraryCall> calls = calls_of(read_file(list_path));
    ASSERT_EQ(calls.size(), times + times / 10 * 4);
    const std::vector<json> events = json_lines(outcome.out);
    ASSERT_EQ(events.size(), calls.size());
    std::map<std::string, std::set<std::string>> at; // the libraries that were at an address
    std::map<std::string, unsigned> hows;
    unsigned modified = 0;
    for (const json &event : events) {
        const LibraryCall &call = calls.at(event.at("args").at("arg2").get<unsigned>());
        const std::vector<std::string> functions = functions_of(event.at("user_stack"));
        ASSERT_GE(functions.size(), 6u) << event.dump();
        EXPECT_EQ(functions[0], "mark") << call.how;
        hows[call.how]++;
        if (call.how == "overwritten" && functions[1] == "overwritten.so (modified)") {
            modified++; // it was overwritten before its names were read, and has none
            continue;
        }
        EXPECT_EQ(functions[1], call.name + "_inner") << call.how << event.dump();
        EXPECT_EQ(functions[2], call.name + "_outer") << call.how << event.dump();
        EXPECT_EQ(functions[3], "enter") << call.how;
        EXPECT_EQ(functions[4], "call") << call.how;
        EXPECT_EQ(functions.back(), "_start") << call.how;
        at[call.address.substr(0, call.address.size() - 3)].insert(call.name); // its page
    }
    EXPECT_EQ(hows.size(), 5u);
    EXPECT_GT(std::count_if(at.begin(), at.end(), [](const auto &one) { return one.second.size() == 2; }), 0) << "no address was that of both";
    std::cout << "  " << modified << " of " << hows["overwritten"] << " were overwritten before they had names\n";
    expect_nothing_lost(json_summary(outcome.out));
}

} // namespace
} // namespace vmtest
