// SPDX-License-Identifier: GPL-2.0-only
// What `argtrace trace --json` prints against what the helper module passed: every call of
// every function of calls.h, on both CPUs, in process and interrupt context, and what each returns.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "calls.h"
#include "support/char_sign.h"
#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

struct Parameter {
    std::string type, name;
    char kind; // as calls.h says
    unsigned size;
};

struct Function {
    std::string name;
    std::vector<Parameter> parameters;
};

// The sizes are repeated here, so that the test does not rely on the code it tests.
unsigned size_of(const std::string &type) {
    static const std::map<std::string, unsigned> sizes = {
        {"u8", 1},           {"s8", 1},           {"u16", 2},          {"s16", 2},
        {"u32", 4},          {"s32", 4},          {"u64", 8},          {"s64", 8},
        {"bool", 1},         {"char", 1},         {"size_t", 8},       {"at_handler_t", 8},
        {"at_handle_t", 4},  {"enum at_color", 4}, {"enum at_level", 4}, {"enum at_wide", 8},
    };
    return type.back() == '*' ? 8 : sizes.at(type);
}

Parameter parameter(const char *type, const char *kind, const char *name) {
    return {type, name, kind[0], size_of(type)};
}

#define P(t, k, n) parameter(#t, #k, #n)
#define F0(f) {"at_" #f, {}},
#define F1(f, a, ka, A) {"at_" #f, {P(a, ka, A)}},
#define F2(f, a, ka, A, b, kb, B) {"at_" #f, {P(a, ka, A), P(b, kb, B)}},
#define F3(f, a, ka, A, b, kb, B, c, kc, C) {"at_" #f, {P(a, ka, A), P(b, kb, B), P(c, kc, C)}},
#define F4(f, a, ka, A, b, kb, B, c, kc, C, d, kd, D)                                             \
    {"at_" #f, {P(a, ka, A), P(b, kb, B), P(c, kc, C), P(d, kd, D)}},
#define F5(f, a, ka, A, b, kb, B, c, kc, C, d, kd, D, e, ke, E)                                   \
    {"at_" #f, {P(a, ka, A), P(b, kb, B), P(c, kc, C), P(d, kd, D), P(e, ke, E)}},
#define F6(f, a, ka, A, b, kb, B, c, kc, C, d, kd, D, e, ke, E, g, kg, G)                         \
    {"at_" #f, {P(a, ka, A), P(b, kb, B), P(c, kc, C), P(d, kd, D), P(e, ke, E), P(g, kg, G)}},

const std::vector<Function> &functions() {
    static const std::vector<Function> all = {AT_CALLS(F0, F1, F2, F3, F4, F5, F6)};
    return all;
}

json expected_value(const Parameter &parameter, std::uint64_t call, unsigned index) {
    const std::uint64_t whole =
        parameter.kind == 'B' ? at_bool_value(call, index) : at_value(call, index);
    const unsigned bits = parameter.size * 8;
    const std::uint64_t value = bits == 64 ? whole : whole & ((std::uint64_t{1} << bits) - 1);
    const bool negative = value >> (bits - 1);
    const bool is_signed =
        parameter.kind == 'S' || (parameter.kind == 'C' && char_is_signed());
    switch (parameter.kind) {
    case 'B':
        return value != 0;
    case 'P': {
        char hex[32];
        std::snprintf(hex, sizeof(hex), "0x%llx", static_cast<unsigned long long>(value));
        return hex;
    }
    default:
        if (is_signed && negative && bits < 64)
            return static_cast<std::int64_t>(value | ~std::uint64_t{0} << bits);
        if (is_signed)
            return static_cast<std::int64_t>(value);
        return value;
    }
}

json expected_args(const Function &function, std::uint64_t call) {
    json args = json::object();
    for (unsigned i = 0; i < function.parameters.size(); i++)
        args[function.parameters[i].name] = expected_value(function.parameters[i], call, i);
    return args;
}

constexpr std::uint64_t calls_of_each = 40;

Outcome trace_a_run(std::vector<std::string> words) {
    need_argtrace();
    need_test_module();
    for (const Function &function : functions())
        words.push_back(function.name);
    Background trace(words);
    EXPECT_TRUE(eventually([&] { return is_armed("at_six") || !trace.is_running(); }));
    call_functions("run", calls_of_each);
    return trace.end(SIGINT);
}

/// A function returns its last argument.
json expected_result(const Function &function, std::uint64_t call) {
    const auto last = static_cast<unsigned>(function.parameters.size()) - 1;
    return function.parameters.empty() ? json() : expected_value(function.parameters[last], call, last);
}

void expect_each_call(const std::vector<json> &events, bool returned) {
    // For each function, CPU and context, calls are numbered in the order of time.
    std::map<std::tuple<std::string, unsigned, bool>, std::uint64_t> seen;
    std::map<std::string, const Function *> by_name;
    for (const Function &function : functions())
        by_name[function.name] = &function;

    std::uint64_t last = 0, arguments = 0;
    for (const json &event : events) {
        const std::string name = event["func"];
        ASSERT_TRUE(by_name.count(name)) << name;
        const unsigned cpu = event["cpu"];
        const std::string flags = event["flags"];
        const bool interrupt = flags.at(2) == 'h' || flags.at(2) == 'H';
        std::uint64_t &number = seen[{name, cpu, interrupt}];
        const std::uint64_t call = number++ + (interrupt ? AT_INTERRUPT_BASE : 0);

        EXPECT_EQ(event["args"].dump(), expected_args(*by_name[name], call).dump())
            << name << " call " << call << " on CPU " << cpu;
        if (returned) {
            EXPECT_EQ(event["ret"].dump(), expected_result(*by_name[name], call).dump()) << name << " call " << call << " on CPU " << cpu;
        }
        arguments += by_name[name]->parameters.size();
        for (const Parameter &parameter : by_name[name]->parameters) {
            EXPECT_EQ(event["types"][parameter.name], parameter.type) << name;
        }
        EXPECT_EQ(event["caller"].get<std::string>().substr(0, 10), "make_call+") << name;
        if (!interrupt) {
            EXPECT_EQ(event["comm"].get<std::string>().substr(0, 8), "kworker/");
        }
        EXPECT_EQ(flags[0] == 'd', interrupt) << flags;
        // Calls that are recorded when they return come in that order.
        const std::uint64_t then = event["ts"].get<std::uint64_t>() + (returned ? event["duration"].get<std::uint64_t>() : 0);
        EXPECT_GE(then + returned, last) << "out of order";
        last = then;
        if (testing::Test::HasFailure())
            break;
    }
    for (const Function &function : functions()) {
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
            for (bool interrupt : {false, true})
                EXPECT_EQ((seen[{function.name, cpu, interrupt}]), calls_of_each)
                    << function.name << " on CPU " << cpu << (interrupt ? " in interrupts" : "");
        }
    }
    EXPECT_EQ(events.size(), functions().size() * cpu_count() * 2 * calls_of_each);
    std::printf("compared %zu calls of %zu functions with %llu arguments\n", events.size(),
                functions().size(), static_cast<unsigned long long>(arguments));
}

class Values : public testing::TestWithParam<const char *> {};

TEST_P(Values, every_call_with_exactly_its_values) {
    const Outcome outcome =
        trace_a_run({"argtrace", "trace", "--json", "--types", "--encoding", GetParam()});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_each_call(json_lines(outcome.out), false);
}

INSTANTIATE_TEST_SUITE_P(Encodings, Values, testing::Values("compact", "named"),
                         [](const auto &info) { return std::string(info.param); });

TEST(ValuesOfReturns, every_call_with_exactly_what_it_returned) {
    const Outcome outcome = trace_a_run({"argtrace", "trace", "-r", "--json", "--types"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_each_call(json_lines(outcome.out), true);
}

TEST(ValuesAsText, are_the_same) {
    const Outcome outcome = trace_a_run({"argtrace", "trace"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    char line[256];
    std::snprintf(line, sizeof(line),
                  "at_five(a=%d, b=%d, c=%d, d=%lld, e=%d) <- make_call+",
                  static_cast<signed char>(at_value(7, 0)), static_cast<short>(at_value(7, 1)),
                  static_cast<int>(at_value(7, 2)), static_cast<long long>(at_value(7, 3)),
                  static_cast<int>(at_value(7, 4)));
    EXPECT_NE(outcome.out.find(line), std::string::npos) << line;
    EXPECT_EQ(outcome.out.substr(0, 4), "TIME");
    EXPECT_NE(outcome.out.find(at_bool_value(3, 0) & 1 ? "at_bool(on=true)" : "at_bool(on=false)"),
              std::string::npos);
    EXPECT_NE(outcome.out.find("at_none() <- "), std::string::npos);
}

} // namespace
} // namespace vmtest
