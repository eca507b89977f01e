// SPDX-License-Identifier: GPL-2.0-only
// User functions of which debug information alone says what they take, against what the traced program (programs/user_types.c) prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "support/architecture.h"
#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

const std::string typed_log = "/tmp/user_types.log";

/// Without optimisation a parameter's place in DWARF is one that is not written yet, with it lists of places count.
class UserTypes : public testing::TestWithParam<const char *> {
protected:
    void SetUp() override {
        need_argtrace();
        need_uprobes();
    }

    static std::string program() { return std::string("/root/user_types_") + GetParam(); }
    static std::string spec(const std::string &function) { return "u:" + program() + ':' + function; }

    static std::vector<nlohmann::ordered_json> trace(const std::vector<std::string> &specs, const std::vector<std::string> &arguments,
                                                     nlohmann::ordered_json *summary = nullptr) {
        std::vector<std::string> words = {"argtrace", "trace", "--json"};
        words.insert(words.end(), specs.begin(), specs.end());
        words.insert(words.end(), {"--", program()});
        words.insert(words.end(), arguments.begin(), arguments.end());
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        if (summary)
            *summary = json_summary(outcome.out);
        return json_lines(outcome.out);
    }
};

TEST_P(UserTypes, have_the_values_that_the_program_has_passed) {
    const auto events = trace(
        {spec("ut_parse(str(req->url->path) as path, req->url->port as port, req->file.number as number, str(req->file.name) as own, "
              "(int)req->color as color, req->a as a, req->b as b, req->c as c, req->name as name, req->matrix[1][2] as m, (int)req->next->color as next, len)"),
         spec("ut_values(pair.a as a, pair.b as b, flag, c, last)"), spec("ut_text(str(text.text) as text, text.length as length)"), spec("ut_clone*(n, m)")},
        {"200", typed_log});
    std::vector<std::string> calls, logged;
    for (const auto &event : events) {
        std::string name = event.at("func").get<std::string>();
        name = name.substr(name.rfind(':') + 1);
        calls.push_back(name.substr(0, name.find('.')) + ' ' + event.at("args").dump());
    }
    std::istringstream log(read_file(typed_log));
    for (std::string line; std::getline(log, line);)
        logged.push_back(line);
    EXPECT_EQ(logged.size(), 200u * 4);
    EXPECT_EQ(calls, logged);
}

TEST_P(UserTypes, are_shown_by_name_and_decide) {
    const auto events = trace({spec("ut_parse if len > 7 && req->color == UT_GREEN && req->file.number % 3 == 0 && comm ~ \"user_types*\"")}, {"60", typed_log});
    EXPECT_EQ(events.size(), 8u); // 15, 21 ... 57
    for (const auto &event : events)
        EXPECT_NE(event.at("args").at("color").dump().find("UT_GREEN"), std::string::npos) << event.dump();
}

// Pointers in structs that are passed by value, too, lead to the program's memory alone.
TEST_P(UserTypes, do_not_lead_to_memory_of_the_kernel) {
    nlohmann::ordered_json summary;
    const auto events = trace({spec("ut_parse(str(req->url->path) as path, req->url->port, len)"), spec("ut_text(str(text.text) as text, *text.text as first)")},
                              {"kernel"}, &summary);
    ASSERT_EQ(events.size(), 8u * 3);
    for (const auto &event : events)
        for (const char *name : {"path", "text", "first"}) {
            const auto &arguments = event.at("args");
            EXPECT_TRUE(!arguments.contains(name) || arguments.at(name).is_null()) << event.dump();
        }
    EXPECT_EQ(summary.at("faults"), 8 * 3) << summary.dump();
}

// Where the stack is, is known when the function is entered: what is kept of a call until it returns lies in the kernel's memory.
TEST_P(UserTypes, have_their_stack_in_the_memory_of_the_program) {
    for (const char *equals : {"", "="}) {
        std::size_t count = 0;
        for (const auto &event : trace({spec("ut_values(&large as at, large.values[0] as first, *(&large.values[0] + 1) as second)") + equals}, {"20", typed_log})) {
            const std::string at = event.at("args").at("at");
            EXPECT_LT(std::stoull(at, nullptr, 16), 1ull << user_address_bits) << event.dump();
            EXPECT_EQ(event.at("args").at("second"), 2) << event.dump();
            count++;
        }
        EXPECT_EQ(count, 20u) << equals;
    }
}

TEST_P(UserTypes, what_is_no_longer_passed_is_not_shown) {
    const auto events = trace({spec("ut_values"), spec("ut_clone*")}, {"3", typed_log});
    ASSERT_EQ(events.size(), 6u);
    const bool is_optimised = std::string(GetParam()) == "o2";
    long round = 0;
    for (const auto &event : events) {
        const auto &arguments = event.at("args");
        if (arguments.contains("x")) {
            EXPECT_EQ(arguments.at("x"), 1.5) << event.dump();
            EXPECT_EQ(arguments.at("large").at("values"), (nlohmann::ordered_json{round++, 2, 3, 4})) << event.dump();
        } else {
            EXPECT_EQ(arguments.at("k").is_null(), is_optimised) << event.dump();
        }
    }
}

std::vector<std::string> sorted(std::vector<std::string> lines) {
    std::sort(lines.begin(), lines.end());
    return lines;
}

// In registers that the kernel does not save when it is entered, and of which the processor has those of another thread a moment later; in
// structs, and on the stack.
TEST_P(UserTypes, floating_point_numbers_are_those_of_the_program) {
    constexpr int rounds = 100, threads = 4;
    nlohmann::ordered_json summary;
    const auto events = trace({"-r", spec("ut_mix(i, d, f, point->x as x, point->y as y, e)"), spec("ut_half"),
                               spec("ut_many(f, g, large.values[1] as l1, large.values[3] as l3, h, x0, x6, x7, x8, x9)"), spec("ut_absent(str(text) as text, d)")},
                              {"floats", std::to_string(rounds), typed_log, std::to_string(threads)}, &summary);
    EXPECT_EQ(summary.at("faults"), 0) << summary.dump();
    std::vector<std::string> calls, logged;
    for (const auto &event : events) {
        const std::string name = event.at("func").get<std::string>();
        nlohmann::ordered_json values = event.at("args");
        values["ret"] = event.at("ret");
        calls.push_back(name.substr(name.rfind(':') + 1) + ' ' + nlohmann::ordered_json::parse(values.dump()).dump());
    }
    std::istringstream log(read_file(typed_log));
    for (std::string line; std::getline(log, line);) {
        const std::size_t blank = line.find(' ');
        nlohmann::ordered_json values = nlohmann::ordered_json::parse(line.substr(blank));
        for (auto &[name, value] : values.items()) // "%g" of a whole number has no point
            if (value.is_number_integer() && (name == "d" || name == "e" || name == "ret" || name == "y" || (name == "f" && line.find("many") == line.npos) || name[0] == 'x'))
                value = value.get<double>();
        logged.push_back(line.substr(0, blank + 1) + values.dump());
    }
    EXPECT_EQ(logged.size(), std::size_t{rounds} * threads * 4);
    EXPECT_EQ(sorted(calls), sorted(logged));
}

TEST_P(UserTypes, floating_point_numbers_decide_and_are_keys) {
    constexpr const char *floats[] = {"floats", "100", "/tmp/user_types.log", "1"};
    const std::vector<std::string> arguments(std::begin(floats), std::end(floats));
    EXPECT_EQ(trace({spec("ut_half if f >= -0.125 && f < 1")}, arguments).size(), 9u); // -1/8, 0 ... 7/8
    EXPECT_EQ(trace({"-r", spec("ut_half if ret == 0.5")}, arguments).size(), 1u);
    EXPECT_EQ(trace({spec("ut_mix if d != d")}, arguments).size(), 3u); // of rounds 7, 47 and 87
    EXPECT_EQ(trace({spec("ut_mix if d > 1e300 || d < -1e300")}, arguments).size(), 5u);
    EXPECT_EQ(trace({spec("ut_many if x9 == x7")}, arguments).size(), 100u);
    const Outcome outcome = run({"argtrace", "count", "--json", "--by", "ret", spec("ut_half if f < -6"), "--", program(), "floats", "4", typed_log, "1"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    for (const char *key : {"-3.125", "-3.0625"})
        EXPECT_NE(outcome.out.find(key), std::string::npos) << outcome.out;
}

INSTANTIATE_TEST_SUITE_P(Compiled, UserTypes, testing::Values("o0", "o2"), [](const auto &info) { return info.param; });

} // namespace
} // namespace vmtest
