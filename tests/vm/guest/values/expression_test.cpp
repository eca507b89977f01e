// SPDX-License-Identifier: GPL-2.0-only
// What expressions come to, against what the compiler has made of them in argtrace_expressions.ko:
// as values to record, and as conditions.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

const std::string expressions_directory = "/sys/kernel/debug/argtrace_expressions/";
constexpr unsigned expression_rounds = 6;

struct ExpressedFunction {
    std::string name;
    std::vector<std::string> expressions;
};

/// The number that the module prints for what argtrace prints otherwise.
json as_number(const json &value) {
    static const std::map<std::string, std::int64_t> enumerators = {
        {"AX_RED", 0},
        {"AX_GREEN", 5},
        {"AX_BLUE", -1},
        {"AX_PALE", 3},
        {"AX_DARK", 0x80000000},
        {"AX_TINY", 7},
        {"AX_LARGE", 200},
        {"AX_BELOW", -7},
        {"AX_ABOVE", 7},
        {"AX_SHORT", 0x1234},
        {"AX_WIDE", 0x123456789abcdef0},
        {"AX_WIDE_BELOW", -0x123456789abcdef},
        {"AX_WIDE_ABOVE", 0x123456789abcdef},
    };
    if (value.is_boolean())
        return value.get<bool>() ? 1 : 0;
    if (!value.is_string())
        return value;
    const auto found = enumerators.find(value);
    return found == enumerators.end() ? value : json(found->second);
}

class Expressions : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_module("argtrace_expressions");
        for (const json &one : json_lines(read_file(expressions_directory + "functions")))
            functions_.push_back({one["func"], one["values"]});
        ASSERT_GT(functions_.size(), 300u);
        std::printf("seed %s", read_file(expressions_directory + "seed").c_str());
    }

    void TearDown() override { EXPECT_EQ(unload_module("argtrace_expressions"), 0); }

    /// Begins to trace these SPECs, of which the last is armed last.
    std::unique_ptr<Background> begin(const std::vector<std::string> &specs) {
        const std::string path = "/tmp/expressions." + std::to_string(nr_traces_++);
        std::ofstream file(path);
        for (const std::string &spec : specs)
            file << spec << '\n';
        file.close();
        return std::make_unique<Background>(
            std::vector<std::string>{"argtrace", "trace", "--json", "--buffer", "4M", "@" + path});
    }

    static void wait_for(Background &trace) {
        const auto is_tracing = [&] {
            return trace.err_so_far().find("tracing") != std::string::npos;
        };
        EXPECT_TRUE(eventually([&] { return is_tracing() || !trace.is_running(); }));
        EXPECT_TRUE(is_tracing()) << trace.err_so_far();
    }

    /// Has the module call its functions.
    void call() {
        std::ofstream(expressions_directory + "run") << expression_rounds;
        expected_ = json_lines(read_file(expressions_directory + "expected"));
    }

    /// The events of what begin() began.
    static std::vector<json> end(Background &trace, std::size_t hits) {
        const Outcome outcome = trace.end(SIGINT);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        const json summary = json_summary(outcome.out);
        EXPECT_EQ(summary["hits"], hits) << outcome.err;
        EXPECT_EQ(summary["faults"], 0) << outcome.err;
        return json_lines(outcome.out);
    }

    std::vector<ExpressedFunction> functions_;
    std::vector<json> expected_; ///< what the module says of each call
    unsigned nr_traces_ = 0;
};

TEST_F(Expressions, have_the_values_that_the_compiler_gives_them) {
    std::vector<std::string> specs;
    for (const ExpressedFunction &function : functions_) {
        std::string values;
        for (std::size_t k = 0; k < function.expressions.size(); k++)
            values += (k ? ", " : "") + function.expressions[k] + " as v" + std::to_string(k);
        specs.push_back(function.name + "(" + values + ")");
    }
    const auto trace = begin(specs);
    wait_for(*trace);
    call();
    const auto events = end(*trace, expected_.size());
    ASSERT_EQ(events.size(), expected_.size());
    std::size_t compared = 0;
    for (std::size_t i = 0; i < events.size(); i++) {
        const ExpressedFunction &function = functions_[i % functions_.size()];
        ASSERT_EQ(events[i]["func"], function.name);
        ASSERT_EQ(expected_[i]["func"], function.name);
        const json &found = events[i]["args"], &values = expected_[i]["values"];
        ASSERT_EQ(found.size(), values.size());
        std::size_t k = 0;
        for (const auto &[name, value] : found.items()) {
            EXPECT_EQ(name, "v" + std::to_string(k));
            EXPECT_EQ(as_number(value).dump(), values[k].dump())
                << function.name << ": " << function.expressions[k] << "\n"
                << events[i].dump();
            k++;
            compared++;
        }
        if (HasFailure())
            break;
    }
    std::printf("compared %zu values of %zu functions\n", compared, functions_.size());
}

struct Condition {
    std::string function; ///< one of the four that are called alike, or the only one
    std::size_t number;   ///< of the expression
};

TEST_F(Expressions, accept_the_calls_for_which_they_hold) {
    constexpr std::size_t at_once = 8; // sessions, each with one expression of each function
    constexpr const char *twins[] = {"", "_2", "_3", "_4"};
    std::vector<std::unique_ptr<Background>> traces;
    std::vector<std::size_t> hits;
    std::vector<std::map<std::string, std::vector<Condition>>> conditions(at_once);
    for (std::size_t k = 0; k < at_once; k++) {
        std::vector<std::string> specs;
        for (const ExpressedFunction &function : functions_) {
            for (std::size_t n = k; n < function.expressions.size(); n += at_once) {
                const std::string name = function.name + twins[n / at_once];
                specs.push_back(name + "(call) if " + function.expressions[n]);
                conditions[k][function.name].push_back({name, n});
            }
        }
        traces.push_back(begin(specs));
        hits.push_back(specs.size() * expression_rounds);
    }
    for (const auto &trace : traces)
        wait_for(*trace);
    call();
    std::size_t accepted = 0, calls = 0;
    for (std::size_t k = 0; k < at_once; k++) {
        const auto events = end(*traces[k], hits[k]);
        auto event = events.begin();
        for (const json &one : expected_) {
            for (const auto &[name, number] : conditions[k][one["func"]]) {
                const json &value = one["values"][number];
                const bool holds = value.is_string() ? value != "0x0" : value != 0;
                const bool is_recorded = event != events.end() && (*event)["func"] == name &&
                                         (*event)["args"]["call"] == one["call"];
                ASSERT_EQ(is_recorded, holds) << "condition " << number << " of " << one.dump();
                calls++;
                if (holds) {
                    ++event;
                    accepted++;
                }
            }
        }
        ASSERT_TRUE(event == events.end()) << event->dump();
    }
    std::printf("%zu of %zu calls accepted\n", accepted, calls);
    EXPECT_GT(accepted, calls / 10);
    EXPECT_LT(accepted, calls);
}

} // namespace
} // namespace vmtest
