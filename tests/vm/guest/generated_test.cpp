// SPDX-License-Identifier: GPL-2.0-only
// Some hundred functions of generated prototypes, called with random values: what `argtrace
// trace --json` prints, against what the module that called them (argtrace_generated.ko) has
// written down.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "command.h"
#include "machine.h"

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

/// The module cannot print 128 bits in decimal.
void make_decimal(json &value) {
    if (value.is_string() && is_hex128(value.get_ref<const std::string &>()))
        value = decimal(value.get_ref<const std::string &>());
    for (json &part : value) {
        if (value.is_structured())
            make_decimal(part);
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

TEST_P(Generated, every_value_exactly) {
    need_argtrace();
    ASSERT_NO_FATAL_FAILURE(need_generated_module());
    Background trace({"argtrace", "trace", "--json", "--encoding", GetParam(), "--buffer", "8M",
                      "argtrace_generated:atg_f*", "!atg_fill*"});
    ASSERT_TRUE(eventually([&] { return is_armed("atg_f0") || !trace.is_running(); }));
    std::ofstream(directory_name + "run") << generated_rounds;
    const Outcome outcome = trace.end(SIGINT);
    ASSERT_EQ(outcome.status, 0) << outcome.err;

    const auto events = json_lines(outcome.out);
    auto expected = json_lines(read_file(directory_name + "expected"));
    ASSERT_GE(expected.size(), generated_rounds * 200u);
    std::size_t arguments = 0, left_out = 0;
    for (std::size_t i = 0; i < std::min(events.size(), expected.size()); i++) {
        ASSERT_EQ(events[i]["func"], expected[i]["func"]) << "call " << i;
        const json &args = events[i]["args"];
        ASSERT_EQ(args.size(), expected[i]["args"].size()) << events[i].dump();
        for (auto &[name, value] : expected[i]["args"].items()) {
            make_decimal(value);
            arguments++;
            ASSERT_TRUE(args.contains(name)) << name << " of " << events[i].dump();
            if (args[name].is_null()) {
                left_out++;
                continue;
            }
            ASSERT_EQ(args[name].dump(), value.dump())
                << name << " of " << events[i].dump() << "\nwas called as " << expected[i].dump();
        }
    }
    ASSERT_EQ(events.size(), expected.size()) << outcome.err;
    std::printf("seed %scompared %zu calls of %zu functions with %zu arguments, of which %zu lie "
                "where BTF does not tell\n",
                read_file(directory_name + "seed").c_str(), events.size(),
                events.size() / generated_rounds, arguments, left_out);
    EXPECT_LT(left_out * 10, arguments) << "with the usual seed it is one in thirteen";
}

INSTANTIATE_TEST_SUITE_P(Encodings, Generated, testing::Values("compact", "named"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace vmtest
