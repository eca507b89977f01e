// SPDX-License-Identifier: GPL-2.0-only
// Calls of user functions with what they return, against what the traced programs (programs/user_returns.c, user_returns_thrown.cpp) say
// themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

const std::string returns_program = "/root/user_returns", thrown_program = "/root/user_returns_thrown", returns_log = "/tmp/user_returns.log";

std::vector<std::string> sorted_returns(const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    std::ranges::sort(lines);
    return lines;
}

std::string plain_text(const nlohmann::ordered_json &value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

class UserReturns : public testing::TestWithParam<const char *> {
protected:
    void SetUp() override {
        need_argtrace();
        need_uprobes();
    }

    static Outcome trace(const std::vector<std::string> &specs, const std::vector<std::string> &command, const std::vector<std::string> &options = {}) {
        std::vector<std::string> all = {"argtrace", "trace", "--json", "-r"};
        for (const char *name : {"ur_value", "ur_early", "ur_recursive", "ur_target", "ur_jump", "ur_loop", "ur_left", "ur_maybe_left", "ur_yields",
                                 "ur_forks", "ur_vforks", "ur_replaced", "ur_exits", "ur_ends", "ut_throws", "ut_within", "ut_always", "ut_jumps"})
            all.insert(all.end(), {"--proto", std::string("long ") + name + "(long number)"});
        all.insert(all.end(), {"--proto", "const char *ur_text(long number, char *to)", "--proto", "void ur_once(long number)"});
        all.insert(all.end(), options.begin(), options.end());
        all.insert(all.end(), specs.begin(), specs.end());
        all.push_back("--");
        all.insert(all.end(), command.begin(), command.end());
        return run(all);
    }

    /// The events as the programs' logs have them, sorted: "NAME ARGUMENT RESULT".
    static std::vector<std::string> calls(const Outcome &outcome, const std::string &without = {}) {
        std::vector<std::string> lines;
        for (const auto &event : json_lines(outcome.out)) {
            const std::string function = event.at("func");
            const std::string name = function.substr(function.rfind(':') + 1);
            if (name == without || event.contains("left_within"))
                continue;
            EXPECT_GE(event.at("duration").get<std::int64_t>(), 0) << event.dump();
            lines.push_back(name + ' ' + plain_text(event.at("args").at("number")) + ' ' + plain_text(event.at("ret")));
        }
        std::ranges::sort(lines);
        return lines;
    }

    /// Those of calls that were left, sorted: "NAME ARGUMENT".
    static std::vector<std::string> left_calls(const Outcome &outcome) {
        std::vector<std::string> lines;
        for (const auto &event : json_lines(outcome.out)) {
            if (!event.contains("left_within"))
                continue;
            EXPECT_GE(event.at("left_within").get<std::int64_t>(), 0) << event.dump();
            EXPECT_TRUE(event.at("ret").is_null() && event.at("duration").is_null()) << event.dump();
            const std::string function = event.at("func");
            lines.push_back(function.substr(function.rfind(':') + 1) + ' ' + plain_text(event.at("args").at("number")));
        }
        std::ranges::sort(lines);
        return lines;
    }

    /// "NAME N" for each of these numbers, sorted.
    static std::vector<std::string> calls_with(const std::string &name, const std::vector<long> &numbers) {
        std::vector<std::string> lines;
        for (const long number : numbers)
            lines.push_back(name + ' ' + std::to_string(number));
        std::ranges::sort(lines);
        return lines;
    }

    /// Each is known to have been left when the next begins.
    static void expect_one_after_the_other(const Outcome &outcome) {
        std::map<std::uint64_t, std::uint64_t> ends;
        for (const auto &event : json_lines(outcome.out))
            ends[event.at("ts")] = event.at("ts").get<std::uint64_t>() + event.at("left_within").get<std::uint64_t>();
        std::uint64_t last = 0;
        for (const auto &[begin, end] : ends) {
            EXPECT_LE(last, begin) << outcome.out;
            last = end;
        }
    }

    static std::uint64_t unfollowed(const Outcome &outcome, const char *why) {
        const auto summary = json_summary(outcome.out);
        const auto returns = summary.find("unfollowed");
        return returns == summary.end() || !returns->contains(why) ? 0 : returns->at(why).get<std::uint64_t>();
    }
};

TEST_F(UserReturns, are_what_the_program_gets) {
    const std::string prefix = "u:" + returns_program + ':';
    const Outcome outcome =
        trace({prefix + "ur_value", prefix + "ur_early", prefix + "ur_text(number, str(ret) as ret)", prefix + "ur_loop", prefix + "ur_once"},
              {returns_program, "ways", returns_log});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> found;
    std::size_t once = 0;
    for (const auto &event : json_lines(outcome.out)) {
        const std::string function = event.at("func"), name = function.substr(function.rfind(':') + 1);
        const auto &args = event.at("args");
        if (name == "ur_once") {
            EXPECT_EQ(args.at("number"), once++);
            continue;
        }
        const auto &value = name == "ur_text" ? args.at("ret") : event.at("ret");
        found.push_back(name + ' ' + plain_text(args.at("number")) + ' ' + plain_text(value));
    }
    std::ranges::sort(found);
    EXPECT_EQ(found, sorted_returns(read_file(returns_log)));
    EXPECT_EQ(once, 100u);
    const auto summary = json_summary(outcome.out);
    EXPECT_EQ(summary.at("hits"), found.size() + once) << summary.dump();
    EXPECT_EQ(summary.at("records"), found.size() + once) << summary.dump();
    EXPECT_EQ(summary.at("faults"), 0) << summary.dump();
}

// By breakpoints where they return, and by uretprobes, which end at 64 calls within each other.
TEST_P(UserReturns, of_all_kinds_belong_to_their_calls) {
    const std::string mode = GetParam();
    const std::map<std::string, std::vector<std::string>> functions = {
        {"recursion", {"ur_recursive"}},
        {"jumps", {"ur_jump", "ur_target"}},
        {"coroutines", {"ur_yields"}},
        {"forks", {"ur_forks", "ur_vforks", "ur_value"}},
        {"threads", {"ur_exits"}},
        {"maybe_left", {"ur_maybe_left"}},
    };
    std::vector<std::string> specs;
    for (const std::string &name : functions.at(mode))
        specs.push_back("u:" + returns_program + ':' + name);
    const Outcome outcome = trace(specs, {returns_program, mode, returns_log});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto logged = sorted_returns(read_file(returns_log));
    EXPECT_EQ(calls(outcome), logged) << outcome.err;
    EXPECT_GE(logged.size(), 8u);
    const auto summary = json_summary(outcome.out);
    std::vector<std::string> left;
    if (mode == "maybe_left")
        left = calls_with("ur_maybe_left", {1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29});
    if (mode == "threads")
        left = calls_with("ur_exits", std::vector<long>(10, 1));
    EXPECT_EQ(left_calls(outcome), left) << outcome.out;
    EXPECT_EQ(summary.at("records"), logged.size() + left.size()) << summary.dump();
    EXPECT_EQ(summary.at("hits"), logged.size() + left.size()) << summary.dump();
    EXPECT_EQ(unfollowed(outcome, "left") + unfollowed(outcome, "exited"), 0u) << summary.dump();
    EXPECT_EQ(summary.at("in_flight"), 0) << summary.dump();
}
INSTANTIATE_TEST_SUITE_P(, UserReturns, testing::Values("recursion", "jumps", "coroutines", "forks", "threads", "maybe_left"),
                         [](const auto &info) { return std::string(info.param); });

TEST_F(UserReturns, of_calls_that_are_left_are_not_known) {
    const std::string left = "u:" + returns_program + ":ur_left", replaced = "u:" + returns_program + ":ur_replaced";
    std::vector<long> numbers(30);
    std::iota(numbers.begin(), numbers.end(), 1);
    for (const std::string &spec : {left, left + "(number, number * 2 as twice, ret + 1 as more, $duration as took) if number > 0"}) {
        const Outcome outcome = trace({spec, replaced}, {returns_program, "left", returns_log});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_TRUE(calls(outcome).empty());
        EXPECT_EQ(left_calls(outcome), calls_with("ur_left", numbers)) << outcome.out;
        expect_one_after_the_other(outcome);
        for (const auto &event : json_lines(outcome.out)) {
            const auto &args = event.at("args");
            if (!args.contains("twice"))
                continue;
            EXPECT_EQ(args.at("twice"), args.at("number").get<long>() * 2) << event.dump();
            EXPECT_TRUE(args.at("more").is_null() && args.at("took").is_null()) << event.dump();
        }
        EXPECT_EQ(json_summary(outcome.out).at("records"), 30) << outcome.out;
        EXPECT_EQ(json_summary(outcome.out).at("faults"), 0) << outcome.out;
    }
    // The number is the one of each call in its own process.
    std::iota(numbers.begin(), numbers.end(), 0);
    numbers.resize(20);
    const Outcome outcome = trace({replaced}, {returns_program, "forks", returns_log});
    EXPECT_EQ(left_calls(outcome), calls_with("ur_replaced", numbers));
    // The program that replaces theirs has another name.
    for (const auto &event : json_lines(outcome.out))
        EXPECT_EQ(event.value("comm", "user_returns"), "user_returns") << event.dump();
}

// What they would have returned decides whether they are wanted, or what is counted.
TEST_F(UserReturns, that_do_not_come_decide_nothing) {
    const std::string left = "u:" + returns_program + ":ur_left";
    const Outcome outcome = trace({left + " if ret > 0"}, {returns_program, "left", returns_log});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(json_lines(outcome.out).empty()) << outcome.out;
    EXPECT_EQ(unfollowed(outcome, "left"), 29u) << outcome.out;
    EXPECT_EQ(unfollowed(outcome, "exited"), 1u) << outcome.out;
    EXPECT_EQ(json_summary(outcome.out).at("hits"), 30) << outcome.out;
}

TEST_F(UserReturns, of_calls_that_are_left_end_in_trees_where_that_is_known) {
    const std::string prefix = "u:" + returns_program + ':';
    const Outcome outcome = run({"argtrace", "trace", "--tree", "--no-header", "-r", "-F", "--proto", "long ur_left(long number)", "--proto", "int main(int argc)", prefix + "main",
                                 prefix + "ur_left", "s:exit_group", "--", returns_program, "left", returns_log});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::size_t calls = 0;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        calls += line.find(" left    u:user_returns:ur_left(number=" + std::to_string(calls + 1) + ") = ?") != std::string::npos;
    EXPECT_EQ(calls, 30u) << outcome.out;
    EXPECT_NE(outcome.out.find("} = 0"), std::string::npos) << outcome.out;
}

// Calls that end with their program end together, and are nested all the same.
TEST_F(UserReturns, of_a_program_that_ends_within_its_calls_are_a_tree) {
    const Outcome outcome = run({"argtrace", "trace", "--tree", "--no-header", "-r", "-F", "--proto", "long ur_ends(long number)", "--proto", "int main(int argc)",
                                 "u:" + returns_program + ":main", "u:" + returns_program + ":ur_ends", "--", returns_program, "ends", returns_log});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> expected = {"main(argc=3) {"}, found;
    std::string indent;
    for (int number = 20; number > 0; number--)
        expected.push_back((indent += "  ") + "ur_ends(number=" + std::to_string(number) + ") {");
    expected.push_back(indent + "  ur_ends(number=0) = ?");
    for (; !indent.empty(); indent.resize(indent.size() - 2))
        expected.push_back(indent + "} = ?");
    expected.push_back("} = ?");
    // The flags are followed by the duration. The tick may ask for rescheduling at any moment, which the second one says.
    const std::regex before_call(R"(^.* \.[.pnNlLbB]\.\.   .{8}  )");
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
        std::string call = std::regex_replace(line, before_call, "");
        if (const std::size_t object = call.find("u:user_returns:"); object != std::string::npos)
            call.erase(object, sizeof("u:user_returns:") - 1);
        found.push_back(call);
    }
    EXPECT_EQ(found, expected) << outcome.out;
}

TEST_F(UserReturns, let_exceptions_through) {
    const std::string prefix = "u:" + thrown_program + ':';
    const Outcome outcome = trace({prefix + "ut_throws", prefix + "ut_within"}, {thrown_program, returns_log});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(calls(outcome), sorted_returns(read_file(returns_log)));
    EXPECT_EQ(json_summary(outcome.out).at("hits"), 40 + 40 + 40);
    // Each call proves that the one before it has been left, and the end of the program the last one.
    const Outcome always = trace({prefix + "ut_always"}, {thrown_program, returns_log});
    ASSERT_EQ(always.status, 0) << always.err;
    std::vector<std::string> expected;
    for (long i = 0; i < 40; i++)
        expected.push_back("ut_always " + std::to_string(i));
    std::ranges::sort(expected);
    EXPECT_EQ(left_calls(always), expected);
    EXPECT_EQ(json_summary(always.out).at("hits"), 40);
    // A uretprobe would end it.
    const Outcome jumps = trace({prefix + "ut_jumps"}, {thrown_program, returns_log});
    EXPECT_NE(jumps.status, 0);
    EXPECT_NE(jumps.err.find("exception"), std::string::npos) << jumps.err;
}

TEST_F(UserReturns, by_uretprobes_are_the_same) {
    const Outcome outcome = trace({"u:" + returns_program + ":ur_early", "u:" + returns_program + ":ur_value"}, {returns_program, "ways", returns_log}, {"--return-by", "uretprobe"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> expected;
    for (const std::string &line : sorted_returns(read_file(returns_log)))
        if (line.starts_with("ur_early") || line.starts_with("ur_value"))
            expected.push_back(line);
    EXPECT_EQ(calls(outcome), expected);
}

// The kernel's uretprobes follow 64 calls that are within each other (kernel/events/uprobes.c); the others are not said to have ended in another way.
TEST_F(UserReturns, by_uretprobes_miss_calls_that_are_too_deep) {
    constexpr std::size_t followed = 64, called = 301;
    const Outcome outcome = trace({"u:" + returns_program + ":ur_recursive"}, {returns_program, "recursion", returns_log}, {"--return-by", "uretprobe"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto logged = sorted_returns(read_file(returns_log));
    ASSERT_EQ(logged.size(), called);
    const auto found = calls(outcome);
    EXPECT_EQ(found.size(), followed);
    EXPECT_TRUE(std::ranges::includes(logged, found));
    const auto summary = json_summary(outcome.out);
    EXPECT_EQ(summary.at("hits"), called) << summary.dump();
    EXPECT_EQ(unfollowed(outcome, "missed"), called - followed) << summary.dump();
    EXPECT_EQ(summary.at("in_flight"), 0) << summary.dump();
}

// Processors keep memory of calls that have returned for the next ones, as long as any function is followed.
TEST_F(UserReturns, leave_no_memory_behind) {
    RawDevice device;
    const std::uint64_t before = device.info().memory_used;
    const std::string prefix = "u:" + returns_program + ':';
    const Outcome outcome = trace({prefix + "ur_value", prefix + "ur_recursive", prefix + "ur_text(number, str(ret) as ret)"}, {returns_program, "ways", returns_log});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_GT(json_lines(outcome.out).size(), 100u);
    EXPECT_EQ(device.info().memory_used, before);
}

TEST_F(UserReturns, are_conditions_and_keys) {
    const Outcome outcome = trace({"u:" + returns_program + ":ur_early if ret > 100 && number < 9"}, {returns_program, "ways", returns_log});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::vector<std::string> expected = {"ur_early 3 300", "ur_early 4 400", "ur_early 5 500"};
    EXPECT_EQ(calls(outcome), expected);
    EXPECT_EQ(json_summary(outcome.out).at("filtered"), 97);
    const Outcome counted = run({"argtrace", "count", "--json", "--by", "ret", "--proto", "long ur_early(long number)", "u:" + returns_program + ":ur_early", "--", returns_program,
                                 "ways", returns_log});
    ASSERT_EQ(counted.status, 0) << counted.err;
    EXPECT_NE(counted.out.find("300"), std::string::npos) << counted.out;
}

} // namespace
} // namespace vmtest
