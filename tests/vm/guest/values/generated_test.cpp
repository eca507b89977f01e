// SPDX-License-Identifier: GPL-2.0-only
// Some hundred functions of generated prototypes, called with random values: what `argtrace
// trace --json` prints, against what the module that called them (argtrace_generated.ko) has
// written down.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

const std::string directory_name = "/sys/kernel/debug/argtrace_generated/";
constexpr unsigned generated_rounds = 3;

__extension__ typedef unsigned __int128 UInt128;

/// "s" or "u" and 32 hexadecimal digits, as decimal.
std::string decimal(const std::string &hex) {
    UInt128 value = static_cast<UInt128>(std::stoull(hex.substr(1, 16), nullptr, 16)) << 64 |
                    std::stoull(hex.substr(17), nullptr, 16);
    const bool negative = hex[0] == 's' && value >> 127;
    if (negative)
        value = -value;
    std::string digits;
    do
        digits += static_cast<char>('0' + static_cast<int>(value % 10));
    while (value /= 10);
    if (negative)
        digits += '-';
    std::reverse(digits.begin(), digits.end());
    return digits;
}

bool is_hex128(const std::string &text) {
    return text.size() == 33 && (text[0] == 's' || text[0] == 'u') &&
           text.find_first_not_of("0123456789abcdef", 1) == text.npos;
}

/// "errno2" as "-ENOENT".
std::string error_name(const std::string &text) {
    const char *name = strerrorname_np(std::stoi(text.substr(strlen("errno"))));
    return std::string("-") + (name ? name : "unknown");
}

/// The module cannot print 128 bits in decimal, and does not know the names of errors.
void make_readable(json &value) {
    if (value.is_string()) {
        const std::string text = value;
        if (is_hex128(text))
            value = decimal(text);
        else if (text.starts_with("errno"))
            value = error_name(text);
    }
    for (json &part : value) {
        if (value.is_structured())
            make_readable(part);
    }
}

void need_generated_module() {
    if (module_is_loaded("argtrace_generated"))
        return;
    ASSERT_EQ(load_module("/root/argtrace_generated.ko"), 0);
}

class Generated : public testing::TestWithParam<const char *> {
protected:
    void TearDown() override { EXPECT_EQ(unload_module("argtrace_generated"), 0); }
};

struct GeneratedTally {
    std::size_t arguments = 0, left_out = 0;
};

void compare_arguments(const json &event, json &expected, GeneratedTally &tally) {
    const json &args = event["args"];
    ASSERT_EQ(args.size(), expected["args"].size()) << event.dump();
    for (auto &[name, value] : expected["args"].items()) {
        make_readable(value);
        tally.arguments++;
        ASSERT_TRUE(args.contains(name)) << name << " of " << event.dump();
        if (args[name].is_null()) {
            tally.left_out++;
            continue;
        }
        ASSERT_EQ(args[name].dump(), value.dump())
            << name << " of " << event.dump() << "\nwas called as " << expected.dump();
    }
}

/// What is printed of all its calls, which the module has written down as well.
Outcome trace_generated(const std::vector<std::string> &options) {
    std::vector<std::string> words{"argtrace", "trace", "--json", "--buffer", "8M"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"argtrace_generated:atg_f*", "!atg_fill*"});
    Background trace(words);
    // Not all at once: those that the kernel follows are armed last.
    EXPECT_TRUE(eventually([&] { return trace.err_so_far().find("argtrace: tracing ") != std::string::npos || !trace.is_running(); }));
    std::ofstream(directory_name + "run") << generated_rounds;
    return trace.end(SIGINT);
}

TEST_P(Generated, every_value_exactly) {
    need_argtrace();
    ASSERT_NO_FATAL_FAILURE(need_generated_module());
    const Outcome outcome = trace_generated({"--encoding", GetParam()});
    ASSERT_EQ(outcome.status, 0) << outcome.err;

    const auto events = json_lines(outcome.out);
    auto expected = json_lines(read_file(directory_name + "expected"));
    ASSERT_GE(expected.size(), generated_rounds * 200u);
    GeneratedTally tally;
    for (std::size_t i = 0; i < std::min(events.size(), expected.size()); i++) {
        ASSERT_EQ(events[i]["func"], expected[i]["func"]) << "call " << i;
        ASSERT_NO_FATAL_FAILURE(compare_arguments(events[i], expected[i], tally));
    }
    ASSERT_EQ(events.size(), expected.size()) << outcome.err;
    std::printf("seed %scompared %zu calls of %zu functions with %zu arguments, of which %zu lie "
                "where BTF does not tell\n",
                read_file(directory_name + "seed").c_str(), events.size(),
                events.size() / generated_rounds, tally.arguments, tally.left_out);
    EXPECT_LT(tally.left_out * 10, tally.arguments) << "with the usual seed it is one in eighteen";
}

INSTANTIATE_TEST_SUITE_P(Encodings, Generated, testing::Values("compact", "named"),
                         [](const auto &info) { return std::string(info.param); });

class GeneratedReturns : public testing::Test {
protected:
    void TearDown() override { EXPECT_EQ(unload_module("argtrace_generated"), 0); }
};

/// BTF does not tell whether the struct is packed, or aligned to more than its members ask for.
bool is_left_out(const json &shown, const json &expected) {
    return shown["ret"].is_null() && expected["ret"].is_object();
}

/// What is returned in memory is the address of that memory, which only the caller and the function know.
bool is_returned_in_memory(const json &shown, const json &expected) {
    return shown["ret"].is_string() && expected["ret"].is_object();
}

TEST_F(GeneratedReturns, every_result_exactly) {
    need_argtrace();
    ASSERT_NO_FATAL_FAILURE(need_generated_module());
    const Outcome outcome = trace_generated({"-r"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;

    const auto events = json_lines(outcome.out);
    auto expected = json_lines(read_file(directory_name + "expected"));
    ASSERT_GE(expected.size(), generated_rounds * 200u);
    GeneratedTally tally;
    std::size_t compared = 0, errors = 0, structs = 0, in_memory = 0, nothing = 0, unknown = 0, not_followed = 0;
    std::set<std::string> followed;
    for (const json &event : events)
        followed.insert(event["func"]);
    for (json &call : expected) {
        if (!followed.contains(call["func"])) {
            not_followed++;
            continue;
        }
        ASSERT_LT(compared, events.size()) << outcome.err;
        const json &event = events[compared++];
        ASSERT_EQ(event["func"], call["func"]) << "call " << compared;
        ASSERT_NO_FATAL_FAILURE(compare_arguments(event, call, tally));
        make_readable(call["ret"]);
        if (call["size"] == 0) // nothing is returned of a struct without members either
            call["ret"] = nullptr;
        errors += call["ret"].dump().starts_with("\"-E");
        nothing += call["ret"].is_null();
        if (is_left_out(event, call)) {
            unknown++;
            continue;
        }
        if (is_returned_in_memory(event, call)) {
            in_memory++;
            EXPECT_EQ(event["ret"].get<std::string>().substr(0, 4), "0xff") << event.dump();
            continue;
        }
        EXPECT_LE(call["size"].get<unsigned>(), 16u) << "of two registers at most: " << event.dump();
        structs += call["ret"].is_object();
        ASSERT_EQ(event["ret"].dump(), call["ret"].dump()) << event.dump() << "\nwas called as " << call.dump();
    }
    ASSERT_EQ(compared, events.size()) << outcome.err;
    std::printf("seed %scompared %zu results: %zu errors, %zu structs in registers, %zu in memory, %zu of void, %zu where BTF does not tell; %zu calls were not followed\n",
                read_file(directory_name + "seed").c_str(), compared, errors, structs, in_memory, nothing, unknown, not_followed);
    EXPECT_GT(errors, 0u);
    EXPECT_GT(structs, 0u);
    EXPECT_GT(in_memory, 0u);
    EXPECT_GT(nothing, 0u);
    EXPECT_LT((unknown + not_followed) * 20, expected.size()) << outcome.err;
}

} // namespace
} // namespace vmtest
