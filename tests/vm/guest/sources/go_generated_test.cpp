// SPDX-License-Identifier: GPL-2.0-only
// Two thousand functions of Go with random types (generator/go_functions.cpp): each value that argtrace shows of their calls, against what the program
// (programs/go_generated.go) says of itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/architecture.h"
#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using GoJson = nlohmann::ordered_json;

const std::string go_new_stack = "runtime.newstack";
const std::string go_generated = "/root/go_functions_generated", go_generated_log = "/tmp/go_generated.log";
constexpr std::size_t go_generated_functions = 2000, go_generated_rounds = 2;

struct GoGeneratedTally {
    std::size_t compared = 0, not_there = 0, behind_end = 0, lost = 0;
};

/// A call, as it was recorded.
struct GoGeneratedCall {
    GoJson event;
    bool gave_way = false; ///< The goroutine gave way in the function's stack check: what the function does not use is lost there.
};

bool is_same(const GoJson &left, const GoJson &right) {
    if (left.is_structured() || right.is_structured()) {
        if (left.type() != right.type() || left.size() != right.size())
            return false;
        for (const auto &[name, value] : left.items())
            if (left.is_array() ? !is_same(value, right.at(std::stoul(name))) : !right.contains(name) || !is_same(value, right.at(name)))
                return false;
        return true;
    }
    if (left.is_number_float() || right.is_number_float())
        return left.is_number() && right.is_number() && left.get<double>() == right.get<double>();
    return left == right;
}

/// The function of the program in whose stack check runtime.newstack was called.
std::string interrupted_function(const GoJson &new_stack) {
    const GoJson &frames = new_stack.at("user_stack");
    const auto is_stack_check = [](const GoJson &frame) { return frame.get_ref<const std::string &>().starts_with("runtime.morestack"); };
    auto frame = std::find_if(frames.begin(), frames.end(), is_stack_check);
    if (frame == frames.end() || ++frame == frames.end())
        return {};
    const std::string name = frame->get<std::string>().substr(0, frame->get_ref<const std::string &>().rfind('+'));
    return name.substr(name.rfind('.') + 1);
}

/// The slice whose element a part belongs to that the slice has not: nothing is read there.
bool is_behind_end(const std::string &part, const GoJson &expected) {
    for (std::size_t open = part.find(".["); open != part.npos; open = part.find(".[", open + 1)) {
        const auto length = expected.find(part.substr(0, open) + ".len");
        if (length != expected.end() && std::stoul(part.substr(open + 2)) >= length->get<std::size_t>())
            return true;
    }
    return false;
}

void compare_go_call(const std::string &name, const GoGeneratedCall &call, const GoJson &expected, bool uses, GoGeneratedTally &tally) {
    const GoJson &event = call.event;
    GoJson values = event.at("args");
    if (expected.contains("ret") || !event.at("ret").is_null())
        values["ret"] = event.at("ret");
    const bool may_be_lost = call.gave_way && !uses;
    for (const auto &[part, value] : values.items()) {
        if (is_behind_end(part, expected)) {
            const bool is_empty = value.is_null() || value == 0 || value == false || value == "" || value == "0x0";
            EXPECT_TRUE(is_empty || may_be_lost) << name << ' ' << part << ' ' << value; // its slice's length may be lost, too
            (is_empty ? tally.behind_end : tally.lost)++;
            continue;
        }
        ASSERT_TRUE(expected.contains(part)) << name << ' ' << part << ' ' << value;
        const GoJson &wanted = expected.at(part);
        tally.compared++;
        if (value.is_null() && !wanted.is_null() && part.find('.') == part.npos)
            tally.not_there++;
        else if (value.is_null() && wanted == "" && part.ends_with(".text")) // as of types that have none
            tally.not_there++;
        else if (may_be_lost && !part.starts_with("ret") && !is_same(value, wanted))
            tally.lost++;
        else
            EXPECT_TRUE(is_same(value, wanted)) << name << ' ' << part << " is " << value << ", and was " << wanted;
    }
}

/// What a lost pointer leads to cannot be read. `may_be_lost`: the calls of each function whose values may be lost.
void expect_unread_are_lost(const nlohmann::json &summary, const std::map<std::string, std::size_t> &may_be_lost) {
    std::size_t unread = 0;
    if (summary.contains("unread"))
        for (const auto &[function, values] : summary.at("unread").items())
            for (const auto &[value, times] : values.items()) {
                const auto lost = may_be_lost.find(function.substr(function.rfind('.') + 1));
                EXPECT_LE(times.get<std::size_t>(), lost == may_be_lost.end() ? 0 : lost->second) << function << ' ' << value << ' ' << summary.dump();
                unread += times.get<std::size_t>();
            }
    EXPECT_LE(summary.at("faults").get<std::size_t>(), unread) << summary.dump();
    EXPECT_EQ(summary.at("faults") == 0, unread == 0) << summary.dump();
}

TEST(GoGenerated, functions_have_the_values_of_the_program) {
    need_argtrace();
    need_uprobes();
    ASSERT_EQ(run({"argtrace", "add", "--stack=user", "--stack-table-size", "32768", "--buffer", "16M", "u:" + go_generated + ":" + go_new_stack}).status, 0);
    ASSERT_EQ(run({"argtrace", "add", "-r", "u:" + go_generated + ":main.*made*"}).status, 0);
    const Outcome outcome = run({"argtrace", "trace", "--json", "--", "env", "GODEBUG=asyncpreemptoff=1", go_generated, go_generated_log, "7", std::to_string(go_generated_rounds)});
    run({"argtrace", "clear"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::map<std::string, std::vector<GoGeneratedCall>> events;
    std::size_t new_stacks = 0;
    std::string interrupted;
    const std::string unknown = "unknown";
    for (GoJson &event : json_lines(outcome.out)) {
        const std::string function = event.at("func");
        if (function.ends_with(go_new_stack)) {
            // On arm64 stacks of Go end there. No other function begins before the one that has given way goes on.
            interrupted = is_arm64 ? unknown : interrupted_function(event);
            new_stacks++;
            continue;
        }
        const std::string name = function.substr(function.rfind('.') + 1);
        events[name].push_back({std::move(event), interrupted == name || interrupted == unknown});
        interrupted.clear();
    }
    EXPECT_EQ(events.size(), go_generated_functions) << outcome.err;
    std::map<std::string, std::size_t> calls, may_be_lost;
    GoGeneratedTally tally;
    std::istringstream log(read_file(go_generated_log));
    for (std::string line; std::getline(log, line);) {
        const GoJson logged = GoJson::parse(line);
        const std::string name = logged.at(0);
        const std::size_t call = calls[name]++;
        ASSERT_LT(call, events[name].size()) << name << ": " << outcome.err;
        const bool uses = logged.at(2);
        may_be_lost[name] += events[name][call].gave_way && !uses;
        ASSERT_NO_FATAL_FAILURE(compare_go_call(name, events[name][call], logged.at(1), uses, tally));
    }
    EXPECT_EQ(calls.size(), go_generated_functions);
    const auto summary = json_summary(outcome.out);
    EXPECT_EQ(summary.at("records"), go_generated_functions * go_generated_rounds + new_stacks) << summary.dump();
    EXPECT_EQ(summary.at("hits"), summary.at("records")) << summary.dump();
    expect_unread_are_lost(summary, may_be_lost);
    std::printf("compared %zu values, and %zu behind the end of a slice; %zu are not there, %zu were lost before their function began\n", tally.compared,
                tally.behind_end, tally.not_there, tally.lost);
    EXPECT_GT(tally.lost, 0u) << "no goroutine has given way where this loses a value; there were " << new_stacks << " new stacks";
    EXPECT_LT(tally.lost * 100, tally.compared);
    EXPECT_LT(tally.not_there * 25, tally.compared) << "of arguments that a function does not use the program does not say where they are";
    EXPECT_GT(tally.compared, 30000u);
}

} // namespace
} // namespace vmtest
