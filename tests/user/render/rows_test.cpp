// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "render/aggregate.h"
#include "render/profile.h"
#include "render/stack_summary.h"
#include "render/status.h"
#include "render/top.h"
#include "render/trace_stats.h"
#include "render/waits.h"
#include "support/some_stack.h"

namespace argtrace {
namespace {

/// What sort, awk and their like make of a line.
std::vector<std::string> words_of(const std::string &line) {
    std::istringstream words(line);
    return {std::istream_iterator<std::string>(words), {}};
}

/// The lines of a table, up to an empty one.
std::vector<std::vector<std::string>> rows_of(const std::string &text) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && !line.empty();)
        rows.push_back(words_of(line));
    return rows;
}

const std::string long_name(200, 'x');
const std::string bad_name = "a\nb\tc\x1b[2J";
const std::string shown_bad_name = R"(a\x0ab\x09c\x1b[2J)";

/// Names of a task are 15 bytes long and hold whatever the task likes; names of functions are long. However wide a table
/// becomes, a row is a line in it, and a cell is a word.
class RowsOfTables : public testing::Test {
protected:
    static KeyPart text(const std::string &value) { return {{0, 0, ARGTRACE_TYPE_STR, true}, value}; }

    static KeyPart number(std::uint64_t value) { return {{value, 0, ARGTRACE_TYPE_U64, true}}; }

    static Key stack_key(const std::string &comm) {
        return {text(comm), {{test::SomeStack::id, 0, ARGTRACE_TYPE_STACK, true}}};
    }

    static void expect_rows(const std::string &table, std::size_t rows, std::size_t cells) {
        const auto all = rows_of(table);
        EXPECT_EQ(all.size(), rows) << table;
        for (const auto &row : all)
            EXPECT_EQ(row.size(), cells) << table;
    }

    test::SomeStack symbols_;
    CallerNames names_{symbols_};
    KeyText keys_{names_};
};

TEST_F(RowsOfTables, OfKeys) {
    const std::vector<KeyColumn> columns{{"func", true}, {"comm"}, {"ret", false, true}};
    Aggregation all;
    all.add_value({text(long_name), text(bad_name), number(1)}, 1);
    all.add_value({text("vfs_read"), text(long_name), number(2)}, 1);
    for (const Statistic statistic : {Statistic::count, Statistic::sum, Statistic::min, Statistic::max, Statistic::avg}) {
        AggregateStyle style;
        style.statistic = statistic;
        std::string out;
        append_aggregate_text(out, all, columns, keys_, style);
        expect_rows(out, 3, statistic == Statistic::count ? 4 : 5);
        EXPECT_NE(out.find(shown_bad_name), out.npos) << out;
    }
}

TEST_F(RowsOfTables, OfHistograms) {
    const std::vector<KeyColumn> columns{{"comm"}};
    Aggregation all(Buckets{Buckets::Kind::log2});
    for (const std::uint64_t value : {std::uint64_t{1} << 62, std::uint64_t{1}})
        all.add_value({text(bad_name)}, value);
    for (const Statistic statistic : {Statistic::hist, Statistic::latency}) {
        AggregateStyle style;
        style.statistic = statistic;
        std::string out;
        append_aggregate_text(out, all, columns, keys_, style);
        std::istringstream lines(out);
        std::string line;
        std::getline(lines, line);
        EXPECT_EQ(line, "comm=" + shown_bad_name);
        std::size_t buckets = 0;
        for (; std::getline(lines, line) && !line.ends_with("calls") && line.find("calls,") == line.npos; ++buckets)
            EXPECT_TRUE(line.ends_with('|')) << out;
        EXPECT_EQ(buckets, 63u) << out;
        EXPECT_FALSE(std::getline(lines, line)) << out; // what the calls come to was the last one
    }
}

TEST_F(RowsOfTables, OfTop) {
    Aggregation all(Buckets{Buckets::Kind::log2});
    all.add_value({text(long_name), number(0)}, 1'000'000'000'000);
    all.add_value({text("vfs_read"), number(1)}, 5);
    for (const bool durations : {false, true}) {
        TopStyle style;
        style.has_durations = durations;
        std::string out;
        append_top(out, all, 1, style);
        auto rows = rows_of(out);
        ASSERT_EQ(rows.size(), 3u) << out;
        rows[0].erase(std::find(rows[0].begin(), rows[0].end(), "SEC")); // "PER SEC"
        for (const auto &row : rows)
            EXPECT_EQ(row.size(), durations ? 8u : 3u) << out;
    }
}

TEST_F(RowsOfTables, OfRecordings) {
    TraceStats stats;
    stats.duration = 1;
    const TraceStats::Timing timing{1, 1'000'000'000'000'000, 1, 1, 1, 1, 1};
    stats.functions = {{long_name, ~std::uint64_t{0} / 2, timing}, {"vfs_read", 1, timing}};
    stats.cpus = {{1000, ~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}}};
    std::string out;
    append_trace_stats_text(out, stats);
    auto calls = rows_of(out);
    ASSERT_EQ(calls.size(), 5u) << out; // and for how long was recorded
    EXPECT_EQ(calls[1].size(), 3u) << out;
    EXPECT_EQ(calls[1][0], long_name);
    const std::size_t timings = out.find("\n\n") + 2;
    expect_rows(out.substr(timings), 3, 8);
    expect_rows(out.substr(out.find("\n\n", timings) + 2), 2, 4);
}

TEST_F(RowsOfTables, OfProfiles) {
    const std::vector<KeyColumn> columns{{"comm"}, {"stack"}};
    Aggregation all;
    all.add_call(stack_key(bad_name));
    std::string out;
    append_profile(out, all, columns, keys_, {});
    EXPECT_EQ(out.substr(0, out.find('\n')), "comm=" + shown_bad_name + ": 1 tick (100.0 %)");
    expect_rows(out.substr(out.find('\n') + 1, out.find("ext4_read") - out.find('\n') - 1) + "f\n", 2, 5);
}

TEST_F(RowsOfTables, OfStacks) {
    const std::vector<KeyColumn> columns{{"comm"}, {"stack"}};
    Aggregation all;
    all.add_call(stack_key(bad_name));
    AggregateStyle style;
    style.statistic = Statistic::stacks;
    std::string out;
    append_stacks(out, all, columns, keys_, style);
    EXPECT_NE(out.find("    1 call (100.0 %), comm=" + shown_bad_name + "\n"), out.npos) << out;
    style.stacks = StackForm::folded;
    out.clear();
    append_stacks(out, all, columns, keys_, style);
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1) << out;
}

TEST_F(RowsOfTables, OfWaits) {
    for (const bool stacks : {false, true}) {
        WaitTotals totals({.keys = {WaitKey::comm}, .stacks = stacks});
        Wait wait;
        const std::string comm = bad_name;
        std::copy(comm.begin(), comm.end(), wait.task.comm.begin());
        wait.woken = 3000;
        wait.end = 4000;
        wait.state = 'S';
        wait.stack = test::SomeStack::id;
        totals.add(wait);
        std::string out;
        append_waits(out, totals, keys_, {});
        EXPECT_NE(out.find(shown_bad_name), out.npos) << out;
        EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), stacks ? 7 : 5) << out;
        if (!stacks)
            expect_rows(out, 2, 6);
    }
}

TEST_F(RowsOfTables, OfModulesToCome) {
    argtrace_on_load_order order{};
    std::fill_n(order.module, sizeof(order.module) - 1, 'm');
    order.count = order.armed = ~0u;
    order.loads = 1;
    std::string out;
    append_status_text(out, {}, {}, std::span(&order, 1));
    EXPECT_EQ(rows_of(out.substr(out.find("\n\n") + 2)).size(), 2u) << out;
}

} // namespace
} // namespace argtrace
