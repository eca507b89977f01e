// SPDX-License-Identifier: GPL-2.0-only
// What count, hist, sum, min, max, avg and latency say against what the helper module has called: every count
// and every bucket, of all CPUs, in process and interrupt context.
#include <gtest/gtest.h>
#include <signal.h>

#include <cctype>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calls.h"
#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

constexpr std::uint64_t calls_of_each = 500;

// Set in values that are to be computed, where others are what a register holds.
constexpr std::uint64_t every_other_bit = 0x1555555555555555;

/// Each call of a function of one parameter: its CPU and what it was given.
void for_each_call(const std::function<void(unsigned cpu, std::uint64_t value)> &take) {
    for (unsigned cpu = 0; cpu < cpu_count(); ++cpu)
        for (std::uint64_t call = 0; call < calls_of_each; ++call) {
            take(cpu, at_value(call, 0));
            take(cpu, at_value(AT_INTERRUPT_BASE + call, 0));
        }
}

std::uint64_t calls_made() {
    return cpu_count() * 2 * calls_of_each;
}

struct Answer {
    std::vector<json> keys;
    json totals;
    std::string out, err;
};

Answer answer_of(const Outcome &outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    Answer answer;
    answer.out = outcome.out;
    answer.err = outcome.err;
    std::size_t at = 0;
    while (at < outcome.out.size()) {
        const std::size_t end = outcome.out.find('\n', at);
        json object = json::parse(outcome.out.substr(at, end - at), nullptr, false);
        EXPECT_FALSE(object.is_discarded()) << outcome.out.substr(at, end - at);
        (object.contains("calls") ? answer.totals : answer.keys.emplace_back()) = object;
        at = end + 1;
    }
    return answer;
}

/// What it says of the calls that `make_calls` makes, for which it has `function` traced.
Answer answer_to(std::vector<std::string> words, const char *function, const std::function<void()> &make_calls) {
    need_argtrace();
    words.insert(words.begin(), "argtrace");
    words.emplace_back("--json");
    Background command(words);
    EXPECT_TRUE(eventually([&] {
        return command.err_so_far().find("until Ctrl-C") != std::string::npos ||
               !command.is_running();
    })) << function;
    EXPECT_TRUE(is_armed(function)) << command.err_so_far();
    make_calls();
    return answer_of(command.end(SIGINT));
}

/// The same of the calls of a run.
Answer answer_to_a_run(std::vector<std::string> words, const char *function) {
    need_test_module();
    return answer_to(std::move(words), function, [] { call_functions("run", calls_of_each); });
}

void expect_totals(const Answer &answer, std::uint64_t added) {
    EXPECT_EQ(answer.totals["added"], added) << answer.totals;
    std::uint64_t sum = 0;
    for (const json &key : answer.keys)
        sum += key["count"].get<std::uint64_t>();
    EXPECT_EQ(sum, added);
    std::uint64_t parts = 0;
    for (const char *part : {"added", "filtered", "sampled", "capped", "overflow", "lost"})
        parts += answer.totals[part].get<std::uint64_t>();
    for (const char *part : {"in_flight", "unfollowed"})
        parts += answer.totals.value(part, std::uint64_t{0});
    EXPECT_EQ(answer.totals["calls"], parts) << answer.totals;
}

__extension__ typedef __int128 Wide;

std::string wide_text(Wide number) {
    std::string text;
    const bool is_negative = number < 0;
    do {
        const auto digit = static_cast<int>(number % 10);
        text.insert(text.begin(), static_cast<char>('0' + (digit < 0 ? -digit : digit)));
        number /= 10;
    } while (number != 0);
    return is_negative ? '-' + text : text;
}

/// The number behind "sum" in the line that has `part`: the parser would make a double of one that is wider than 64 bits.
std::string sum_text(const Answer &answer, const std::string &part) {
    const std::size_t line = answer.out.find(part);
    const std::size_t at = line == answer.out.npos ? line : answer.out.find("\"sum\":", line);
    if (at == answer.out.npos)
        return "none in " + answer.out;
    const std::size_t from = at + std::string_view("\"sum\":").size();
    return answer.out.substr(from, answer.out.find(',', from) - from);
}

/// "from" -> "count".
std::map<std::int64_t, std::uint64_t> buckets_of(const json &key) {
    std::map<std::int64_t, std::uint64_t> buckets;
    for (const json &bucket : key["buckets"])
        buckets[bucket["from"].is_null() ? INT64_MIN : bucket["from"].get<std::int64_t>()] =
            bucket["count"];
    return buckets;
}

TEST(Aggregate, counts_by_any_key) {
    const Answer answer = answer_to_a_run(
        {"count", "--by", "func,cpu,a % 8 as low", "at_u64", "at_u32"}, "at_u32");
    std::map<std::tuple<std::string, unsigned, std::uint64_t>, std::uint64_t> expected, counted;
    for_each_call([&](unsigned cpu, std::uint64_t value) {
        ++expected[{"at_u64", cpu, value % 8}];
        ++expected[{"at_u32", cpu, value % 8}];
    });
    for (const json &key : answer.keys)
        counted[{key["func"], key["key"]["cpu"], key["key"]["low"]}] = key["count"];
    EXPECT_EQ(counted, expected);
    expect_totals(answer, 2 * calls_made());
}

TEST(Aggregate, counts_of_functions_take_no_keys) {
    const Answer answer = answer_to_a_run({"count", "at_*"}, "at_u64");
    std::map<std::string, std::uint64_t> counted;
    for (const json &key : answer.keys)
        counted[key["func"]] = key["count"];
    for (const char *name : {"at_u8", "at_u64", "at_four", "at_six", "at_none"})
        EXPECT_EQ(counted[name], calls_made()) << name;
    expect_totals(answer, counted.size() * calls_made());
}

TEST(Aggregate, powers_of_two_of_unsigned_numbers) {
    const Answer answer =
        answer_to_a_run({"hist", "at_u64(a >> (a & 63))", "--by", "cpu"}, "at_u64");
    std::map<unsigned, std::map<std::uint64_t, std::uint64_t>> expected; // from -> count
    std::map<unsigned, Wide> sums;
    std::map<unsigned, std::uint64_t> maxima;
    for_each_call([&](unsigned cpu, std::uint64_t value) {
        const std::uint64_t shifted = value >> (value & 63);
        std::uint64_t from = shifted;
        while (from & (from - 1))
            from &= from - 1;
        ++expected[cpu][from];
        sums[cpu] += shifted;
        maxima[cpu] = std::max(maxima[cpu], shifted);
    });
    ASSERT_EQ(answer.keys.size(), cpu_count());
    for (const json &key : answer.keys) {
        const unsigned cpu = key["key"]["cpu"];
        std::map<std::uint64_t, std::uint64_t> counted;
        for (const json &bucket : key["buckets"]) {
            const std::uint64_t from = bucket["from"];
            counted[from] = bucket["count"];
            if (from > 0 && from < std::uint64_t{1} << 63) {
                EXPECT_EQ(bucket["to"], 2 * from);
            }
        }
        EXPECT_EQ(counted, expected[cpu]) << "of CPU " << cpu;
        EXPECT_EQ(sum_text(answer, "\"cpu\":" + std::to_string(cpu)), wide_text(sums[cpu]));
        EXPECT_EQ(key["max"], maxima[cpu]);
        EXPECT_EQ(key["count"], 2 * calls_of_each);
    }
    expect_totals(answer, calls_made());
}

/// The buckets of all calls and their sum, of what `mask` leaves of the values.
void expect_powers_of_two(const Answer &answer, std::uint64_t mask) {
    std::map<std::int64_t, std::uint64_t> expected, counted; // from -> count
    std::uint64_t sum = 0, added = 0;
    for_each_call([&](unsigned, std::uint64_t value) {
        std::uint64_t from = value & mask;
        sum += from;
        while (from & (from - 1))
            from &= from - 1;
        ++expected[static_cast<std::int64_t>(from)];
    });
    for (const json &key : answer.keys) {
        for (const auto &[from, count] : buckets_of(key))
            counted[from] += count;
        added += key["sum"].get<std::uint64_t>();
    }
    EXPECT_EQ(counted, expected);
    EXPECT_EQ(added, sum);
    expect_totals(answer, calls_made());
}

// The keys for which the callback itself adds a call: none, a constant, the name of the task.
TEST(Aggregate, powers_of_two_by_common_keys) {
    for (const std::vector<std::string> &by :
         {std::vector<std::string>{}, {"--by", "func"}, {"--by", "comm"}}) {
        SCOPED_TRACE(by.empty() ? "nothing" : by.back());
        std::vector<std::string> words{"hist", "at_u64((unsigned int)a)"};
        words.insert(words.end(), by.begin(), by.end());
        expect_powers_of_two(answer_to_a_run(words, "at_u64"), UINT32_MAX);
    }
}

// Fewer than there are slots, but so many that some have the same home.
TEST(Aggregate, powers_of_two_that_share_a_home) {
    constexpr unsigned buckets = 48;
    need_module("argtrace_onload");
    std::map<std::int64_t, std::uint64_t> expected;
    std::uint64_t made = 0;
    const Answer answer = answer_to({"hist", "ol_later(number)", "--by", "func", "--map-size", "64"}, "ol_later", [&] {
        for (unsigned bucket = 0; bucket < buckets; bucket++) {
            const std::int64_t size = std::int64_t{1} << bucket;
            expected[size] = 1 + bucket % 5;
            made += expected[size];
            for (std::uint64_t call = 0; call < expected[size]; call++)
                std::ofstream("/sys/module/argtrace_onload/parameters/later") << size << std::flush;
        }
    });
    ASSERT_EQ(answer.keys.size(), 1u);
    EXPECT_EQ(buckets_of(answer.keys[0]), expected);
    expect_totals(answer, made);
    EXPECT_EQ(unload_module("argtrace_onload"), 0); // other tests load it
}

TEST(Aggregate, powers_of_two_of_signed_numbers) {
    const Answer answer = answer_to_a_run({"hist", "at_s64(a >> (a & 63))"}, "at_s64");
    std::map<std::int64_t, std::uint64_t> expected;
    std::int64_t least = INT64_MAX, greatest = INT64_MIN;
    for_each_call([&](unsigned, std::uint64_t value) {
        const std::int64_t shifted = static_cast<std::int64_t>(value) >> (value & 63);
        least = std::min(least, shifted);
        greatest = std::max(greatest, shifted);
        std::uint64_t size = shifted < 0 ? -static_cast<std::uint64_t>(shifted)
                                         : static_cast<std::uint64_t>(shifted);
        while (size & (size - 1))
            size &= size - 1;
        // -4 to -7 begin at -7.
        const std::int64_t from =
            shifted >= 0 ? static_cast<std::int64_t>(size)
            : size >> 63 ? INT64_MIN
                         : 1 - static_cast<std::int64_t>(2 * size - 1) - 1;
        ++expected[from];
    });
    ASSERT_EQ(answer.keys.size(), 1u);
    EXPECT_EQ(buckets_of(answer.keys[0]), expected);
    EXPECT_EQ(answer.keys[0]["min"], least);
    EXPECT_EQ(answer.keys[0]["max"], greatest);
    expect_totals(answer, calls_made());
}

/// The sum of all calls, as signed numbers or not, is wider than 64 bits.
void expect_wide_sum(const Answer &answer, bool is_signed, std::uint64_t bits) {
    Wide sum = 0;
    for_each_call([&](unsigned, std::uint64_t value) {
        value |= bits;
        sum += is_signed ? Wide{static_cast<std::int64_t>(value)} : Wide{value};
    });
    EXPECT_TRUE(sum > Wide{1} << 64 || sum < -(Wide{1} << 64));
    Wide counted = 0;
    for (std::size_t at = 0; (at = answer.out.find("\"sum\":", at)) != answer.out.npos; ++at) {
        Wide one = 0;
        const std::size_t from = at + 6;
        const bool is_negative = answer.out[from] == '-';
        for (std::size_t i = from + is_negative; std::isdigit(static_cast<unsigned char>(answer.out[i])); ++i)
            one = one * 10 + (answer.out[i] - '0');
        counted += is_negative ? -one : one;
    }
    EXPECT_EQ(wide_text(counted), wide_text(sum));
    expect_totals(answer, calls_made());
}

// In each of the ways in which the callback adds a value, which are quick for one that a register holds, and of a recording.
TEST(Aggregate, sums_are_wider_than_64_bits) {
    const std::string file = "/tmp/wide.dat";
    for (const auto &[name, bits] : {std::pair(std::string("at_u64"), std::uint64_t{0}), {"at_u64", every_other_bit},
                                     {"at_s64", std::uint64_t{0}}, {"at_s64", every_other_bit}}) {
        const std::string spec = bits == 0 ? name + "(a)" : name + "(a | " + std::to_string(bits) + ")";
        const std::vector<std::vector<std::string>> ways = {
            {"sum", spec}, {"avg", spec, "--by", "comm"}, {"sum", spec, "--by", "cpu,comm"}, {"sum", spec, "--by", "a % 3 as part"},
            {"hist", spec}, {"hist", spec, "--by", "func"}, {"hist", spec, "--by", "comm"}};
        for (const std::vector<std::string> &way : ways) {
            SCOPED_TRACE(spec + " " + way.front() + " " + way.back());
            expect_wide_sum(answer_to_a_run(way, name.c_str()), name == "at_s64", bits);
        }
        need_argtrace();
        Background record({"argtrace", "record", "-o", file, name});
        EXPECT_TRUE(eventually([&] { return is_armed(name.c_str()) || !record.is_running(); }));
        call_functions("run", calls_of_each);
        const Outcome recorded = record.end(SIGINT);
        ASSERT_EQ(recorded.status, 0) << recorded.err;
        expect_wide_sum(answer_of(run({"argtrace", "sum", "--json", "--in", file, spec})), name == "at_s64", bits);
    }
}

TEST(Aggregate, buckets_of_equal_width) {
    const Answer answer =
        answer_to_a_run({"hist", "at_s16(a)", "--linear", "-10000,20000,700"}, "at_s16");
    std::map<std::int64_t, std::uint64_t> expected;
    for_each_call([&](unsigned, std::uint64_t whole) {
        const auto value = static_cast<std::int16_t>(whole);
        if (value < -10000)
            ++expected[INT64_MIN];
        else if (value >= -10000 + 43 * 700) // the 43 buckets end beyond 20000
            ++expected[-10000 + 43 * 700];
        else
            ++expected[-10000 + (value + 10000) / 700 * 700];
    });
    ASSERT_EQ(answer.keys.size(), 1u);
    EXPECT_EQ(buckets_of(answer.keys[0]), expected);
    expect_totals(answer, calls_made());
}

TEST(Aggregate, sums_of_narrow_signed_numbers) {
    const Answer answer =
        answer_to_a_run({"sum", "at_s32(a) if a & 1", "--by", "a & 6 as low"}, "at_s32");
    struct Sums {
        std::uint64_t count = 0;
        std::int64_t sum = 0, min = INT64_MAX, max = INT64_MIN;
    };
    std::map<std::int64_t, Sums> expected;
    std::uint64_t accepted = 0;
    for_each_call([&](unsigned, std::uint64_t whole) {
        const auto value = static_cast<std::int32_t>(whole);
        if (!(value & 1))
            return;
        Sums &sums = expected[value & 6];
        ++accepted;
        ++sums.count;
        sums.sum += value;
        sums.min = std::min<std::int64_t>(sums.min, value);
        sums.max = std::max<std::int64_t>(sums.max, value);
    });
    ASSERT_EQ(answer.keys.size(), expected.size());
    for (const json &key : answer.keys) {
        const Sums &sums = expected[key["key"]["low"]];
        EXPECT_EQ(key["count"], sums.count);
        EXPECT_EQ(key["sum"], sums.sum);
        EXPECT_EQ(key["min"], sums.min);
        EXPECT_EQ(key["max"], sums.max);
        EXPECT_NEAR(key["avg"].get<double>(),
                    static_cast<double>(sums.sum) / static_cast<double>(sums.count), 0.001);
    }
    expect_totals(answer, accepted);
    EXPECT_EQ(answer.totals["filtered"], calls_made() - accepted);
}

TEST(Aggregate, a_small_map_loses_and_counts) {
    const Answer answer =
        answer_to_a_run({"count", "--by", "a", "--map-size", "64", "at_u64"}, "at_u64");
    const std::uint64_t overflow = answer.totals["overflow"];
    EXPECT_GE(overflow, calls_made() - 64 * cpu_count()) << "all values differ";
    EXPECT_LT(overflow, calls_made());
    expect_totals(answer, calls_made() - overflow);
    EXPECT_NE(answer.err.find("--map-size 512"), std::string::npos) << answer.err;
    for (const json &key : answer.keys)
        EXPECT_LE(key["count"], cpu_count()) << key;
}

TEST(Aggregate, latency_is_of_every_call) {
    const Answer answer = answer_to_a_run({"latency", "at_four", "--by", "func,cpu"}, "at_four");
    ASSERT_EQ(answer.keys.size(), cpu_count());
    for (const json &key : answer.keys) {
        EXPECT_EQ(key["count"], 2 * calls_of_each);
        std::uint64_t in_buckets = 0;
        for (const json &bucket : key["buckets"])
            in_buckets += bucket["count"].get<std::uint64_t>();
        EXPECT_EQ(in_buckets, 2 * calls_of_each);
        EXPECT_GT(key["min"], 0u);
        EXPECT_LE(key["min"], key["p50"]);
        EXPECT_LE(key["p50"], key["p90"]);
        EXPECT_LE(key["p90"], key["p99"]);
        EXPECT_LE(key["p99"], key["max"]);
    }
    expect_totals(answer, calls_made());
}

// Keys of one word and of two, from the call and from its task: none of them takes a program when the call returns.
TEST(Aggregate, latency_by_words) {
    for (const char *by : {"", "func", "comm", "pid", "func,pid"}) {
        std::vector<std::string> words{"latency", "at_four"};
        if (*by)
            words.insert(words.end(), {"--by", by});
        const auto begin = std::chrono::steady_clock::now();
        const Answer answer = answer_to_a_run(words, "at_four");
        const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin);
        ASSERT_FALSE(answer.keys.empty()) << by;
        for (const json &key : answer.keys) {
            std::uint64_t in_buckets = 0;
            for (const json &bucket : key["buckets"])
                in_buckets += bucket["count"].get<std::uint64_t>();
            EXPECT_EQ(in_buckets, key["count"]) << by;
            EXPECT_GT(key["min"], 0u) << by;
            EXPECT_LE(key["max"], static_cast<std::uint64_t>(elapsed.count())) << by;
            EXPECT_GE(key["sum"], key["count"].get<std::uint64_t>() * key["min"].get<std::uint64_t>()) << by;
            EXPECT_LE(key["sum"], key["count"].get<std::uint64_t>() * key["max"].get<std::uint64_t>()) << by;
        }
        expect_totals(answer, calls_made());
    }
}

TEST(Aggregate, pairs_by_a_value) {
    const Answer answer =
        answer_to_a_run({"latency", "--from", "at_u64", "--to", "at_s64", "--on", "a + cpu"}, "at_s64");
    ASSERT_EQ(answer.keys.size(), 1u);
    EXPECT_EQ(answer.keys[0]["count"], calls_made());
    EXPECT_EQ(answer.err.find("had no call"), std::string::npos) << answer.err;
    EXPECT_EQ(answer.err.find("followed by another"), std::string::npos) << answer.err;
}

/// What a recording of the same calls gives.
class AggregateOfARecording : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(AggregateOfARecording, is_the_same) {
    need_argtrace();
    need_test_module();
    const std::string file = "/tmp/aggregate.dat";
    Background record({"argtrace", "record", "-o", file, "at_s16", "at_u64(a, a >> (a & 63), a % 5 as five)"});
    EXPECT_TRUE(eventually([&] { return is_armed("at_u64") || !record.is_running(); }));
    const Answer live = answer_to_a_run(GetParam(), GetParam().back().substr(0, 6).c_str());
    const Outcome recorded = record.end(SIGINT);
    ASSERT_EQ(recorded.status, 0) << recorded.err;
    std::vector<std::string> words = GetParam();
    words.insert(words.begin(), "argtrace");
    words.insert(words.end(), {"--json", "--in", file});
    const Answer again = answer_of(run(words));
    EXPECT_FALSE(live.keys.empty());
    EXPECT_EQ(again.keys, live.keys);
    EXPECT_EQ(again.totals["added"], live.totals["added"]);
}

INSTANTIATE_TEST_SUITE_P(
    Aggregate, AggregateOfARecording,
    testing::Values(std::vector<std::string>{"count", "at_u64"},
                    std::vector<std::string>{"count", "--by", "cpu,comm,func", "at_s16"},
                    std::vector<std::string>{"hist", "--by", "a % 5 as five", "at_u64(a >> (a & 63))"},
                    std::vector<std::string>{"min", "--by", "a % 5 as five,cpu", "at_u64(a >> (a & 63))"},
                    std::vector<std::string>{"hist", "at_s16(a)"}));

} // namespace
} // namespace vmtest
