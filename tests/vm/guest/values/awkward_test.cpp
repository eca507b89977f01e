// SPDX-License-Identifier: GPL-2.0-only
// Arguments on the stack, structs by value, 128 bits: what `argtrace trace --json` prints of
// the functions of AT_AWKWARD (calls.h), against the words they were called with.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <string>

#include "calls.h"
#include "support/architecture.h"
#include "support/char_sign.h"
#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

constexpr std::uint64_t nr_calls = 20;

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

/// The words of one call, cut to the sizes of the parameters.
class Words {
public:
    explicit Words(std::uint64_t call) : call_(call) {}

    std::uint64_t word(unsigned w) const { return at_value(call_, w); }

    template <typename T> T cut(unsigned w, unsigned shift = 0) const {
        return static_cast<T>(word(w) >> shift);
    }

    json character(unsigned w) const {
        return char_is_signed() ? json(cut<std::int8_t>(w)) : json(cut<std::uint8_t>(w));
    }

    json pointer(unsigned w) const {
        char hex[32];
        std::snprintf(hex, sizeof(hex), "0x%llx", static_cast<unsigned long long>(word(w)));
        return hex;
    }

    /// Bits from `shift` on, sign-extended.
    std::int64_t bits(unsigned w, unsigned shift, unsigned count) const {
        return static_cast<std::int64_t>(word(w) << (64 - shift - count)) >> (64 - count);
    }

    std::string decimal(unsigned low, unsigned high) const {
        auto value = static_cast<Int128>(static_cast<UInt128>(word(high)) << 64 | word(low));
        auto rest = static_cast<UInt128>(value);
        if (value < 0)
            rest = -rest;
        std::string digits;
        do
            digits += static_cast<char>('0' + static_cast<int>(rest % 10));
        while (rest /= 10);
        if (value < 0)
            digits += '-';
        std::reverse(digits.begin(), digits.end());
        return digits;
    }

    json pair(unsigned w) const {
        return {{"low", cut<std::uint32_t>(w)},
                {"color", cut<std::uint32_t>(w, 32)},
                {"high", cut<std::int64_t>(w + 1)}};
    }

private:
    std::uint64_t call_;
};

using Expected = std::map<std::string, json>;

Expected expected_args(std::uint64_t call) {
    const Words w(call);
    using u8 = std::uint8_t;
    using u16 = std::uint16_t;
    using s8 = std::int8_t;
    return {
        {"at_eight",
         {{"a", w.word(0)},
          {"b", w.word(1)},
          {"c", w.word(2)},
          {"d", w.word(3)},
          {"e", w.word(4)},
          {"f", w.word(5)},
          {"g", w.cut<u8>(6)},
          {"h", w.cut<std::int32_t>(7)}}},
        {"at_twelve",
         {{"a", w.cut<s8>(0)},
          {"b", w.cut<s8>(1)},
          {"c", w.cut<s8>(2)},
          {"d", w.cut<s8>(3)},
          {"e", w.cut<s8>(4)},
          {"f", w.cut<s8>(5)},
          {"g", w.cut<u16>(6)},
          {"h", w.cut<u8>(7) != 0},
          {"i", w.cut<std::int64_t>(8)},
          {"j", w.character(9)},
          {"k", w.pointer(10)},
          {"l", w.cut<std::int32_t>(11)}}},
        {"at_small",
         {{"s",
           {{"tag", w.cut<u8>(0)},
            {"on", w.cut<u8>(0, 8) != 0},
            {"port", w.cut<u16>(0, 16)},
            {"delta", w.cut<std::int32_t>(0, 32)}}},
          {"after", w.cut<u16>(1)}}},
        {"at_pair", {{"before", w.cut<u8>(0)}, {"p", w.pair(1)}, {"after", w.cut<u16>(3)}}},
        {"at_squeezed",
         {{"a", w.word(0)},
          {"b", w.word(1)},
          {"c", w.word(2)},
          {"d", w.word(3)},
          {"e", w.word(4)},
          {"p", w.pair(6)},
          {"after", w.cut<std::uint32_t>(5)}}},
        {"at_large",
         {{"before", w.cut<u8>(0)},
          {"l",
           {{"first", w.word(6)},
            {"inner", {{"a", w.cut<u16>(7)}, {"b", w.cut<u16>(7, 16)}}},
            {"bits", w.cut<u8>(8) & 31},
            {"more", w.bits(8, 5, 7)},
            {"last", w.cut<std::uint32_t>(8, 32)}}},
          {"after", w.cut<u16>(1)}}},
        {"at_huge_int",
         {{"before", w.cut<u8>(0)}, {"i", w.decimal(1, 2)}, {"after", w.cut<u16>(3)}}},
        {"at_variadic", {{"format", w.pointer(0)}, {"count", w.cut<std::uint32_t>(1)}}},
    };
}

class Awkward : public testing::TestWithParam<const char *> {};

TEST_P(Awkward, every_argument_exactly) {
    if (is_arm64)
        GTEST_SKIP() << "the words are where x86-64 has them; Generated compares with AAPCS64";
    need_argtrace();
    need_test_module();
    std::vector<std::string> words = {"argtrace", "trace", "--json", "--encoding", GetParam()};
    for (const auto &[function, args] : expected_args(0))
        words.push_back(function);
    Background trace(words);
    ASSERT_TRUE(eventually([&] { return is_armed("at_variadic") || !trace.is_running(); }));
    call_functions("awkward", nr_calls);
    const Outcome outcome = trace.end(SIGINT);
    ASSERT_EQ(outcome.status, 0) << outcome.err;

    std::map<std::string, std::uint64_t> seen;
    for (json event : json_lines(outcome.out)) {
        const std::string function = event["func"];
        const std::uint64_t call = seen[function]++;
        json &args = event["args"];
        if (function == "at_large") {
            // Any bytes: how text is escaped is tested with the renderer.
            EXPECT_TRUE(args["l"]["text"].is_string());
            args["l"].erase("text");
        }
        ASSERT_EQ(args.dump(), expected_args(call).at(function).dump())
            << function << " call " << call;
    }
    for (const auto &[function, args] : expected_args(0))
        EXPECT_EQ(seen[function], nr_calls) << function;
}

INSTANTIATE_TEST_SUITE_P(Encodings, Awkward, testing::Values("compact", "named"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace vmtest
