// SPDX-License-Identifier: GPL-2.0-only
// What is said of functions whose callers, durations and errors a helper module knows (modules/argtrace_callers.c).
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/call_chains.h"
#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

const std::string callers_directory = "/sys/kernel/debug/argtrace_callers/";

/// Functions with offsets, the innermost first -> how many calls came from there.
using StackCounts = std::map<std::vector<std::string>, std::uint64_t>;

constexpr std::uint64_t turns = 140;
constexpr std::uint64_t calls_a_turn = 1 + 2 + 1 + 2 + has_nmis;
/// How many frames of a stack argtrace keeps.
constexpr std::size_t kept_frames = 127;
constexpr const char *cut_mark = "...";

/// A tool that is told to end when `load` is done. It is to follow what interrupts itself, too: that counts as its own calls.
Outcome follow(std::vector<std::string> words, const std::string &file, const std::string &text) {
    need_argtrace();
    need_module("argtrace_callers");
    words.insert(words.begin() + 2, "--include-self");
    Background tool(words);
    const auto follows = [&] { return tool.err_so_far().find("until Ctrl-C") != std::string::npos; };
    EXPECT_TRUE(eventually([&] { return follows() || !tool.is_running(); }) && follows()) << tool.err_so_far();
    std::ofstream out(callers_directory + file);
    out << text << std::flush;
    EXPECT_TRUE(out.good()) << file;
    Outcome outcome = tool.end(SIGINT);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome;
}

std::vector<nlohmann::ordered_json> objects_of(const std::string &text) {
    std::vector<nlohmann::ordered_json> objects;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        objects.push_back(nlohmann::ordered_json::parse(line));
    return objects;
}

/// What stack_trace_save() had, as argtrace is to show it.
StackCounts saved_stacks() {
    StackCounts counts;
    std::istringstream lines(read_file(callers_directory + "stacks"));
    for (std::string line; std::getline(lines, line);) {
        EXPECT_EQ(line.find("not kept"), line.npos) << line;
        std::istringstream words(line);
        std::string word;
        std::getline(words, word, '\t');
        const std::uint64_t calls = std::stoull(word);
        std::vector<std::string> frames;
        while (std::getline(words, word, '\t'))
            frames.push_back(without_size(word));
        if (frames.size() > kept_frames) {
            frames.resize(kept_frames);
            frames.emplace_back(cut_mark);
        }
        counts[frames] += calls;
    }
    return counts;
}

/// A stack of JSON, from the caller of the function on.
std::vector<std::string> frames_of(const nlohmann::ordered_json &object) {
    std::vector<std::string> frames = object.at("stack");
    if (!frames.empty() && (frames.front() + ' ').starts_with("acl_called "))
        frames.erase(frames.begin());
    return frames;
}

/// How many of the calls came from a caller: functions without offset, the innermost first.
std::uint64_t calls_from(const StackCounts &counts, const std::vector<std::string> &callers) {
    std::uint64_t calls = 0;
    for (const auto &[frames, count] : counts) {
        bool same = frames.size() >= callers.size();
        for (std::size_t i = 0; same && i < callers.size(); i++)
            same = frames[i].starts_with(callers[i] + '+');
        calls += same ? count : 0;
    }
    return calls;
}

/// What the module did, by whom; and what the kernel's own stacks of the same calls were.
void expect_what_was_called(const StackCounts &counts) {
    EXPECT_EQ(calls_from(counts, {"acl_once"}), turns);
    EXPECT_EQ(calls_from(counts, {"acl_twice"}), 2 * turns);
    EXPECT_EQ(calls_from(counts, {"acl_deep"}), turns);
    // As many of its own frames as its argument says, and one more.
    EXPECT_EQ(calls_from(counts, std::vector<std::string>(100, "acl_deep")), turns - 99);
    for (const char *caller : {"acl_in_softirq", "acl_in_interrupt", "acl_in_nmi"})
        EXPECT_EQ(calls_from(counts, {caller}), has_nmis || std::string(caller) != "acl_in_nmi" ? turns : 0) << caller;
    // Both calls of acl_twice(), which return to different places.
    std::vector<std::uint64_t> places;
    for (const auto &[frames, count] : counts)
        if (frames.front().starts_with("acl_twice+"))
            places.push_back(count);
    EXPECT_EQ(places, (std::vector<std::uint64_t>{turns, turns}));
    EXPECT_EQ(counts, saved_stacks());
}

TEST(Callers, stacks_are_counted_as_the_kernel_saves_them) {
    const Outcome outcome = follow({"argtrace", "stacks", "--json", "acl_called"}, "run", std::to_string(turns));
    StackCounts counts;
    for (const auto &object : objects_of(outcome.out)) {
        if (object.contains("stack")) {
            counts[frames_of(object)] += object.at("count").get<std::uint64_t>();
        } else {
            EXPECT_EQ(object.at("added"), turns * calls_a_turn) << object;
        }
    }
    expect_what_was_called(counts);
}

TEST(Callers, calls_have_the_stacks_that_the_kernel_saves) {
    const Outcome outcome = follow({"argtrace", "trace", "--stack", "--json", "acl_called"}, "run", std::to_string(turns));
    StackCounts counts;
    for (const auto &object : json_lines(outcome.out))
        ++counts[frames_of(object)];
    expect_what_was_called(counts);
}

/// Through argtrace's own trampoline, too, which stands on the stack and is not shown.
TEST(Callers, calls_that_are_followed_have_them) {
    const Outcome outcome = follow({"argtrace", "trace", "-r", "--stack", "--json", "acl_once", "acl_called"}, "run", std::to_string(turns));
    StackCounts counts;
    for (const auto &object : json_lines(outcome.out))
        if (object.at("func") == "acl_called")
            ++counts[frames_of(object)];
    EXPECT_EQ(calls_from(counts, {"acl_once", "call_in_turn"}), turns);
    EXPECT_EQ(calls_from(counts, {"acl_twice", "call_in_turn"}), 2 * turns);
}

struct Duration {
    std::uint64_t ns, calls;
};

/// Times in the middle of a bucket of powers of two, so that a clock that differs a little from the kernel's is no matter.
constexpr Duration durations[] = {{1500, 40}, {100000, 30}, {3000000, 20}, {50000000, 3}};

TEST(Callers, latency_is_no_less_than_what_is_known) {
    std::map<std::uint64_t, std::uint64_t> expected;
    for (const auto &[ns, calls] : durations) {
        expected[ns] = calls;
        const Outcome outcome = follow({"argtrace", "latency", "--json", "--by", "ns", "acl_spin"}, "spin",
                                       std::to_string(calls) + ' ' + std::to_string(ns));
        const auto objects = objects_of(outcome.out);
        ASSERT_EQ(objects.size(), 2u) << outcome.out;
        const auto &key = objects.front();
        EXPECT_EQ(key.at("key").at("ns"), ns);
        EXPECT_EQ(key.at("count"), calls);
        EXPECT_GE(key.at("min").get<double>(), 0.99 * static_cast<double>(ns));
        EXPECT_GE(key.at("sum").get<double>(), 0.99 * static_cast<double>(ns * calls));
        std::uint64_t in_buckets = 0;
        for (const auto &bucket : key.at("buckets")) {
            EXPECT_GT(bucket.at("to").get<std::uint64_t>(), ns) << key;
            in_buckets += bucket.at("count").get<std::uint64_t>();
        }
        EXPECT_EQ(in_buckets, calls);
        EXPECT_EQ(objects.back().at("added"), calls);
    }
}

/// The words of the line that begins with the first of them.
std::vector<std::string> words_of_line(const std::string &text, const std::string &first) {
    std::istringstream lines(text);
    std::vector<std::string> words;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream parts(line);
        words.clear();
        for (std::string word; parts >> word;)
            words.push_back(word);
        if (!words.empty() && words.front() == first)
            return words;
    }
    return {};
}

TEST(Callers, top_counts_the_calls_that_fail) {
    constexpr std::uint64_t failures = 700;
    const Outcome outcome = follow({"argtrace", "top", "-r", "-i", "3600", "acl_fail"}, "fail", std::to_string(failures));
    const std::vector<std::string> names = words_of_line(outcome.out, "FUNC");
    const std::vector<std::string> words = words_of_line(outcome.out, "acl_fail");
    ASSERT_GE(words.size(), 4u) << outcome.out;
    EXPECT_EQ(names.at(1), "CALLS");
    EXPECT_EQ(words.at(1), std::to_string(3 * failures));
    EXPECT_NE(outcome.out.find("ERRORS"), std::string::npos) << outcome.out;
    EXPECT_EQ(words.at(3), std::to_string(failures)) << outcome.out;
}

} // namespace
} // namespace vmtest
