// SPDX-License-Identifier: GPL-2.0-only
// Structs and numbers that are passed and returned in registers of both kinds, against what the traced program (programs/user_structs.cpp) prints.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/architecture.h"
#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using nlohmann::ordered_json;

const std::string structs_log = "/tmp/user_structs.log";

class UserStructs : public testing::TestWithParam<const char *> {
protected:
    void SetUp() override {
        need_argtrace();
        need_uprobes();
    }

    static std::string program() { return std::string("/root/user_structs_") + GetParam(); }
    static std::string spec(const std::string &function) { return "u:" + program() + ':' + function; }

    static std::vector<ordered_json> trace(const std::vector<std::string> &words, long rounds) {
        std::vector<std::string> all = {"argtrace", "trace", "--json"};
        all.insert(all.end(), words.begin(), words.end());
        all.insert(all.end(), {"--", program(), std::to_string(rounds), structs_log});
        const Outcome outcome = run(all);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(json_summary(outcome.out).at("faults"), 0) << outcome.out;
        return json_lines(outcome.out);
    }

    /// "us_full" of "u:NAME:us_full(...)".
    static std::string name_of(const ordered_json &event) {
        const std::string function = event.at("func").get<std::string>();
        const std::size_t begin = function.find(":us_") + 1;
        return function.substr(begin, function.find('(', begin) - begin);
    }

    /// For x86-64 clang says of some arguments that are on the stack, or are not used, no place at the entry that is known: they are shown as unknown.
    static void leave_out_unsaid(const std::string &function, ordered_json &values, ordered_json &expected) {
        static const std::map<std::string, std::vector<const char *>> unsaid = {
            {"us_full", {"i"}}, {"us_wide", {"e", "f"}}, {"us_extended", {"x", "y"}}, {"us_in_part", {"p", "b"}}};
        const auto found = unsaid.find(function);
        if (found == unsaid.end() || std::string(GetParam()) != "clang_o2" || is_arm64)
            return;
        for (const char *name : found->second) {
            EXPECT_TRUE(values.at(name).is_null()) << function << ' ' << values.dump();
            values.erase(name);
            expected.erase(name);
        }
    }

    static bool is_of_16_bytes(const std::string &function) { return function == "us_wide" || function == "us_vectors" || function.ends_with("extended"); }

    /// What the program has printed: the function of each call, and its values.
    static std::vector<std::pair<std::string, ordered_json>> logged() {
        std::vector<std::pair<std::string, ordered_json>> calls;
        std::istringstream log(read_file(structs_log));
        for (std::string line; std::getline(log, line);)
            calls.emplace_back(line.substr(0, line.find(' ')), ordered_json::parse(line.substr(line.find(' '))));
        return calls;
    }
};

// What only some functions pass is named, as pointers are shown as numbers.
TEST_P(UserStructs, have_the_values_of_the_program) {
    constexpr long rounds = 100;
    const auto events = trace({"-r", spec("us_points"), spec("us_triples"), spec("us_pairs"), spec("us_mixed(k, a, b.d as d, str(b.text) as text)"),
                               spec("us_turned(str(a.text) as text, b)"), spec("us_both"), spec("us_union"), spec("us_inner"), spec("us_complex"), spec("us_library"),
                               spec("us_full"), spec("us_spilled(g, h)"), spec("us_in_part")},
                              rounds);
    auto calls = logged();
    std::erase_if(calls, [](const auto &call) { return is_of_16_bytes(call.first); });
    ASSERT_EQ(calls.size(), 13u * rounds);
    ASSERT_EQ(events.size(), calls.size());
    for (std::size_t i = 0; i < calls.size(); i++) {
        ordered_json values = events[i].at("args");
        const ordered_json &result = events[i].at("ret");
        const bool has_pointer = calls[i].first == "us_turned";
        if (has_pointer) {
            values["ret.d"] = result.at("d");
            values["ret.text"] = "text";
        } else {
            values["ret"] = result;
        }
        EXPECT_EQ(name_of(events[i]), calls[i].first);
        leave_out_unsaid(calls[i].first, values, calls[i].second);
        EXPECT_EQ(values, calls[i].second) << events[i].dump() << '\n' << calls[i].second.dump();
    }
}

/// A long double by its digits: compilers' libraries write exponents in several ways.
long double number_of(const ordered_json &value) {
    return std::strtold(value.get<std::string>().c_str(), nullptr);
}

bool same_extended(const ordered_json &one, const ordered_json &other) {
    const long double a = number_of(one), b = number_of(other);
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// What a struct of one number has.
const ordered_json &number_in(const ordered_json &value) {
    return value.is_object() && value.contains("value") ? value.at("value") : value;
}

TEST_P(UserStructs, numbers_of_16_bytes) {
    constexpr long rounds = 50;
    const auto events =
        trace({"-r", spec("us_wide"), spec("us_extended"), spec("us_returns_extended"), spec("us_alone_extended"), spec("us_vectors")}, rounds);
    std::vector<std::pair<std::string, ordered_json>> calls;
    for (auto &call : logged())
        if (is_of_16_bytes(call.first))
            calls.push_back(call);
    ASSERT_EQ(calls.size(), 5u * rounds);
    ASSERT_EQ(events.size(), calls.size());
    for (std::size_t i = 0; i < calls.size(); i++) {
        ordered_json values = events[i].at("args"), expected = calls[i].second;
        const std::string texts = events[i].dump() + '\n' + expected.dump();
        if (calls[i].first != "us_extended")
            values["ret"] = events[i].at("ret");
        leave_out_unsaid(calls[i].first, values, expected);
        for (const auto &[name, value] : values.items()) {
            const ordered_json &one = number_in(value), &other = number_in(expected.at(name));
            if (one.is_string() && calls[i].first != "us_wide") {
                EXPECT_TRUE(same_extended(one, other)) << name << ' ' << texts;
            } else {
                EXPECT_EQ(one, other) << name << ' ' << texts;
            }
        }
        EXPECT_EQ(values.size(), expected.size()) << texts;
    }
}

TEST_P(UserStructs, are_the_same_at_the_entry) {
    const auto events = trace({spec("us_points"), spec("us_full"), spec("us_complex")}, 20);
    std::vector<ordered_json> expected;
    for (auto &[name, values] : logged())
        if (name == "us_points" || name == "us_full" || name == "us_complex") {
            values.erase("ret");
            expected.push_back(values);
        }
    ASSERT_EQ(events.size(), expected.size());
    for (std::size_t i = 0; i < events.size(); i++) {
        ordered_json values = events[i].at("args");
        leave_out_unsaid(name_of(events[i]), values, expected[i]);
        EXPECT_EQ(values, expected[i]) << events[i].dump();
    }
}

TEST_P(UserStructs, decide_and_are_keys) {
    EXPECT_EQ(trace({spec("us_points if b.x >= 10 && b.x < 20 && a.y == -0.5")}, 40).size(), 10u);
    EXPECT_EQ(trace({"-r", spec("us_points if ret.y == 12")}, 40).size(), 1u);
    EXPECT_EQ(trace({spec("us_triples if t.c == 30")}, 40).size(), 1u);
    EXPECT_EQ(trace({spec("us_mixed if a.n < -30")}, 40).size(), 9u);
    EXPECT_EQ(trace({"-r", spec("us_mixed if ret.n > 0")}, 40).size(), 3u);
    EXPECT_EQ(trace({spec("us_complex if z.imag == -1.5 && w.imag < 5")}, 40).size(), 5u);
    EXPECT_EQ(trace({spec("us_inner if n.second.flag && n.second.c < 0")}, 40).size(), 12u) << "16 of 0 to 15 and 32 to 39 are negative, and half is odd";
    const Outcome outcome = run({"argtrace", "count", "--json", "--by", "ret.y", spec("us_points if n < 3"), "--", program(), "40", structs_log});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("2.0"), std::string::npos) << outcome.out;
}

TEST_P(UserStructs, are_texts_as_others_are) {
    const Outcome outcome = run({"argtrace", "trace", "-r", spec("us_points if n == 2"), spec("us_complex if w.imag == 2"), "--", program(), "4", structs_log});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("us_points(us_point, int, us_point)(a={x=0.6666666666666666, y=-0.5}, n=2, b={x=2.0, y=0.09523809523809523}) = {x=1.5, y=2.0}"), std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("(z={real=0.6666666666666666, imag=-1.5}, w={real=-6.0, imag=2.0})"), std::string::npos) << outcome.out;
}

INSTANTIATE_TEST_SUITE_P(Compiled, UserStructs, testing::Values("gcc_o0", "gcc_o2", "clang_o0", "clang_o2"), [](const auto &info) { return info.param; });

} // namespace
} // namespace vmtest
