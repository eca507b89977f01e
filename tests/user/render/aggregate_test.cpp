// SPDX-License-Identifier: GPL-2.0-only
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "render/aggregate.h"
#include "support/thrown.h"
#include "util/utf8.h"

namespace argtrace {
namespace {

class NoCodeSymbols : public Symbols {
public:
    std::optional<Symbol> find(CodePlace) const override { return std::nullopt; }
    std::optional<Stack> stack(std::uint64_t id, StackRoom &) const override { return Stack{std::span(addresses_).first(id - 100), false}; }

private:
    std::vector<std::uint64_t> addresses_{0xffffffff81000010, 0xffffffff81000020, 0xffffffff81000030};
};

class RenderedAggregate : public testing::Test {
protected:
    static KeyPart number(std::uint64_t value, std::uint8_t type = ARGTRACE_TYPE_S32) {
        return {{value, 0, type, true}};
    }

    static KeyPart text(std::string value) {
        return {{0, 0, ARGTRACE_TYPE_STR, true}, std::move(value)};
    }

    std::string shown(const Aggregation &all, const AggregateStyle &style) {
        std::string out;
        append_aggregate_text(out, all, columns_, keys_, style);
        return out;
    }

    std::string json(const Aggregation &all, const AggregateStyle &style) {
        std::string out;
        append_aggregate_json(out, all, columns_, keys_, style);
        return out;
    }

    /// In columns, of the lines of a text.
    static std::vector<std::size_t> widths_of(std::string_view text) {
        std::vector<std::size_t> widths;
        while (!text.empty()) {
            std::string_view line = text.substr(0, text.find('\n'));
            text.remove_prefix(line.size() + 1);
            std::size_t &width = widths.emplace_back();
            for (; !line.empty(); ++width)
                line.remove_prefix(utf8_length(line));
        }
        return widths;
    }

    NoCodeSymbols symbols_;
    CallerNames names_{symbols_};
    KeyText keys_{names_};
    std::vector<KeyColumn> columns_;
};

TEST_F(RenderedAggregate, CountsAreATable) {
    columns_ = {{"func", true}, {"comm"}, {"ret", false, true}};
    Aggregation all;
    for (int i = 0; i < 12; ++i)
        all.add_call({text("vfs_read"), text("dd"), number(832)});
    all.add_call({text("vfs_write"), text("a\nb"), number(static_cast<std::uint64_t>(-2))});
    EXPECT_EQ(shown(all, {}), "FUNC      COMM       RET CALLS\n"
                              "vfs_read  dd         832    12\n"
                              "vfs_write a\\x0ab -ENOENT     1\n");
    AggregateStyle one;
    one.top = 1;
    EXPECT_EQ(shown(all, one), "FUNC     COMM RET CALLS\n"
                               "vfs_read dd   832    12\n"
                               "... and 1 more\n");
    EXPECT_EQ(json(all, {}),
              "{\"func\":\"vfs_read\",\"key\":{\"comm\":\"dd\",\"ret\":832},\"count\":12}\n"
              "{\"func\":\"vfs_write\",\"key\":{\"comm\":\"a\\nb\",\"ret\":-2},\"count\":1}\n");
}

// As the table of calls has it, on a terminal and with -d; where no name fits, as the type says.
TEST_F(RenderedAggregate, StacksAreTheLastColumns) {
    columns_ = {{"stack"}, {"comm"}};
    Aggregation all;
    all.add_call({number(103, ARGTRACE_TYPE_STACK), text("dd")});
    all.add_call({number(103, ARGTRACE_TYPE_STACK), text("dd")});
    all.add_call({number(101, ARGTRACE_TYPE_STACK), text("cat")});
    EXPECT_EQ(shown(all, {}), "COMM CALLS STACK\n"
                              "dd       2 0xffffffff81000010 <- 0xffffffff81000020 <- 0xffffffff81000030\n"
                              "cat      1 0xffffffff81000010\n");
    AggregateStyle sums;
    sums.statistic = Statistic::sum;
    EXPECT_EQ(shown(all, sums).substr(0, 20), "COMM CALLS SUM STACK");
}

TEST_F(RenderedAggregate, KeysMayBeShownByTheirNames) {
    NamedValues flags(true, NumberForm::hex), commands(false, NumberForm::typed);
    flags.add("O_RDONLY", 0);
    flags.add("O_WRONLY", 1);
    flags.add("O_CLOEXEC", 0x80000);
    commands.add("F_GETFL", 3);
    columns_ = {{"flags"}, {"cmd"}};
    columns_[0].shown = ShownAs{&flags, NumberForm::typed};
    columns_[1].shown = ShownAs{&commands, NumberForm::typed};
    Aggregation all;
    for (int i = 0; i < 2; ++i)
        all.add_call({number(0x80001), number(3)});
    all.add_call({number(0), number(7)});
    EXPECT_EQ(shown(all, {}), " FLAGS CMD CALLS\n"
                              "524289   3     2\n"
                              "     0   7     1\n");
    keys_.set_described(true);
    EXPECT_EQ(shown(all, {}), "FLAGS              CMD     CALLS\n"
                              "O_WRONLY|O_CLOEXEC F_GETFL     2\n"
                              "O_RDONLY           7           1\n");
    EXPECT_EQ(json(all, {}), "{\"key\":{\"flags\":524289,\"flags.text\":\"O_WRONLY|O_CLOEXEC\",\"cmd\":3,\"cmd.text\":\"F_GETFL\"},\"count\":2}\n"
                             "{\"key\":{\"flags\":0,\"flags.text\":\"O_RDONLY\",\"cmd\":7},\"count\":1}\n");
}

// As of two calls of vfs_fsync_range(file, 0, LLONG_MAX, 0).
TEST_F(RenderedAggregate, SumsAndMeansOfGreatNumbersAreExact) {
    columns_ = {{"n"}};
    AggregateStyle style;
    style.statistic = Statistic::avg;
    style.order = AggregateOrder::key;
    const std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()), least = most + 1;
    Aggregation all(Buckets{Buckets::Kind::none, true});
    for (const std::uint64_t value : {most, most})
        all.add_value({number(1)}, value);
    for (const std::uint64_t value : {least, least, least + 1})
        all.add_value({number(2)}, value);
    EXPECT_EQ(shown(all, style), "N CALLS                    AVG\n"
                                 "1     2  9223372036854775807.0\n"
                                 "2     3 -9223372036854775807.7\n");
    EXPECT_EQ(json(all, style),
              "{\"key\":{\"n\":1},\"count\":2,\"sum\":18446744073709551614,\"min\":9223372036854775807,"
              "\"max\":9223372036854775807,\"avg\":9223372036854775807.000}\n"
              "{\"key\":{\"n\":2},\"count\":3,\"sum\":-27670116110564327423,\"min\":-9223372036854775808,"
              "\"max\":-9223372036854775807,\"avg\":-9223372036854775807.667}\n");
    // What is rounded up to a whole number.
    Aggregation rounded;
    for (int i = 0; i < 99; ++i)
        rounded.add_value({number(1)}, most);
    rounded.add_value({number(1)}, most - 1);
    EXPECT_NE(shown(rounded, style).find(" 9223372036854775807.0\n"), std::string::npos) << shown(rounded, style);
}

TEST_F(RenderedAggregate, TimesOfMoreThan64BitsAreNotCut) {
    columns_ = {{"n"}};
    AggregateStyle style;
    style.statistic = Statistic::sum;
    style.unit = ValueUnit::nanoseconds;
    Aggregation all;
    for (int i = 0; i < 2; ++i)
        all.add_value({number(1)}, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(shown(all, style), "N CALLS          SUM\n"
                                 "1     2 36893488147s\n");
}

TEST_F(RenderedAggregate, IsOrderedAsAskedFor) {
    columns_ = {{"n"}};
    Aggregation all(Buckets{Buckets::Kind::none, true});
    const auto add = [&](std::int64_t key, std::int64_t value) {
        all.add_value({number(static_cast<std::uint64_t>(key))}, static_cast<std::uint64_t>(value));
    };
    add(10, 5), add(10, 7), add(-1, -3), add(9, 100), add(9, -100);
    const auto order = [&](AggregateOrder by) {
        AggregateStyle style;
        style.order = by;
        std::vector<std::int64_t> keys;
        std::string lines = json(all, style);
        for (std::size_t at = 0; at < lines.size();) {
            const std::size_t end = lines.find('\n', at);
            keys.push_back(nlohmann::json::parse(lines.substr(at, end - at))["key"]["n"]);
            at = end + 1;
        }
        return keys;
    };
    EXPECT_THAT(order(AggregateOrder::count), testing::ElementsAre(9, 10, -1)) << "then by key";
    EXPECT_THAT(order(AggregateOrder::sum), testing::ElementsAre(10, 9, -1));
    EXPECT_THAT(order(AggregateOrder::min), testing::ElementsAre(9, -1, 10)) << "the least first";
    EXPECT_THAT(order(AggregateOrder::max), testing::ElementsAre(9, 10, -1));
    EXPECT_THAT(order(AggregateOrder::avg), testing::ElementsAre(10, 9, -1));
    EXPECT_THAT(order(AggregateOrder::key), testing::ElementsAre(-1, 9, 10));
    EXPECT_EQ(parse_aggregate_order("avg"), AggregateOrder::avg);
    EXPECT_EQ(thrown([] { parse_aggregate_order("size"); }),
              "--sort takes count, sum, min, max, avg, key, not 'size'");
}

TEST_F(RenderedAggregate, HistogramsAreAsPeopleKnowThem) {
    columns_ = {{"comm"}};
    Aggregation all(Buckets{Buckets::Kind::log2});
    for (int i = 0; i < 4; ++i)
        all.add_value({text("dd")}, 4096);
    all.add_value({text("dd")}, 1024);
    all.add_value({text("cat")}, 0);
    all.add_fault({text("cat")});
    AggregateStyle style;
    style.statistic = Statistic::hist;
    EXPECT_EQ(shown(all, style),
              "comm=dd\n"
              "[1K, 2K)                1 |@@@@@@@@@@@@@                                       |\n"
              "[2K, 4K)                0 |                                                    |\n"
              "[4K, 8K)                4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
              "5 calls, mean 3481.6, sum 17408, min 1024, max 4096\n"
              "\n"
              "comm=cat\n"
              "[0]                     1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
              "2 calls, mean 0.0, sum 0, min 0, max 0; 1 of them with a value that could not be "
              "read\n");
    EXPECT_EQ(json(all, style),
              "{\"key\":{\"comm\":\"dd\"},\"buckets\":[{\"from\":1024,\"to\":2048,\"count\":1},"
              "{\"from\":4096,\"to\":8192,\"count\":4}],\"count\":5,\"sum\":17408,\"min\":1024,"
              "\"max\":4096,\"avg\":3481.600}\n"
              "{\"key\":{\"comm\":\"cat\"},\"buckets\":[{\"from\":0,\"to\":1,\"count\":1}],"
              "\"count\":2,\"sum\":0,\"min\":0,\"max\":0,\"avg\":0.000,\"faults\":1}\n");
}

TEST_F(RenderedAggregate, KeysThatWereCutAreNamed) {
    columns_ = {{"n"}, {"path"}, {"comm"}};
    KeyPart cut = text("/usr/li");
    cut.value.cut = true;
    Aggregation all;
    all.add_call({number(1), cut, text("dd")});
    all.add_call({number(2), text("/usr"), text("dd")});
    EXPECT_THAT(shown(all, {}), testing::HasSubstr("/usr/li... "));
    const std::string lines = json(all, {});
    const auto first = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
    const auto second = nlohmann::json::parse(lines.substr(lines.find('\n')));
    EXPECT_EQ(first.at("key").at("path"), "/usr/li");
    EXPECT_EQ(first.at("cut"), nlohmann::json::array({"path"}));
    EXPECT_FALSE(second.contains("cut"));
}

TEST_F(RenderedAggregate, LatencyHasUnitsAndPercentiles) {
    Aggregation all(Buckets{Buckets::Kind::log2});
    all.add_value({}, 1500);
    all.add_value({}, 2500000);
    AggregateStyle style;
    style.statistic = Statistic::latency;
    style.unit = ValueUnit::nanoseconds;
    const std::string text = shown(all, style);
    EXPECT_THAT(text, testing::StartsWith("[1.02us, 2.05us)        1 |@@@"));
    EXPECT_THAT(text, testing::HasSubstr("\n[2.10ms, 4.19ms)        1 |@@@"));
    EXPECT_THAT(text, testing::EndsWith("\n2 calls, mean 1.25ms, p50 1.50us, p90 2.50ms, p99 "
                                        "2.50ms, max 2.50ms\n"));
    const auto object = nlohmann::json::parse(json(all, style));
    EXPECT_EQ(object["p50"], 1500);
    EXPECT_EQ(object["p99"], 2500000);
    EXPECT_EQ(object["sum"], 2501500);
    EXPECT_FALSE(object.contains("key"));
}

TEST_F(RenderedAggregate, LinesHaveEightyColumns) {
    for (const BarStyle bars : {BarStyle::ascii, BarStyle::blocks}) {
        Aggregation all(Buckets{Buckets::Kind::log2, true});
        std::uint64_t count = 1;
        for (const std::int64_t value : {-1, -5, 0, 1, 70, 5000, 1 << 30}) {
            count *= 3;
            for (std::uint64_t i = 0; i < count; ++i)
                all.add_value({}, static_cast<std::uint64_t>(value));
        }
        AggregateStyle style;
        style.statistic = Statistic::hist;
        style.bars = bars;
        std::string text;
        append_histogram(text, all, all.entries().at({}), style.unit, bars);
        EXPECT_THAT(widths_of(text), testing::Each(80u));
        EXPECT_EQ(widths_of(text).size(), 3u + 1u + 31u) << "all from -5 to 2^30";
    }
}

TEST_F(RenderedAggregate, LinesHaveEightyColumnsHoweverLargeNumbersAre) {
    const auto lowest = static_cast<std::uint64_t>(INT64_MIN) + 1;
    Aggregation linear(Buckets{Buckets::Kind::linear, true, lowest, 1000, 3});
    linear.add({}, 0, {std::uint64_t{1} << 62, 0, 0, lowest, lowest});
    linear.add({}, 3, {1, 0, 0, 0, 0});
    Aggregation times(Buckets{Buckets::Kind::linear, false, 1000000, 1000, 4});
    times.add({}, 1, {123456789012, 0, 0, 1001000, 1001999});
    for (const BarStyle bars : {BarStyle::ascii, BarStyle::blocks}) {
        std::string text;
        append_histogram(text, linear, linear.entries().at({}), ValueUnit::plain, bars);
        append_histogram(text, times, times.entries().at({}), ValueUnit::nanoseconds, bars);
        EXPECT_THAT(widths_of(text), testing::ElementsAre(80u, 80u, 80u, 80u, 80u)) << text;
        EXPECT_NE(text.find("(-8E, -9223372036854774808]                  4611686018427387904 |"), text.npos) << text;
    }
}

TEST_F(RenderedAggregate, BlocksTellEighths) {
    Aggregation all(Buckets{Buckets::Kind::log2});
    for (int i = 0; i < 1000; ++i)
        all.add_value({}, 1);
    all.add_value({}, 2);
    std::string text;
    append_histogram(text, all, all.entries().at({}), ValueUnit::plain, BarStyle::blocks);
    EXPECT_THAT(text, testing::HasSubstr("1000 |█"));
    EXPECT_THAT(text, testing::HasSubstr("       1 |▏ ")) << "one call in a thousand is seen";
}

TEST(Ranges, AreWrittenShortly) {
    const auto log2 = [](std::int64_t number) {
        return format_range(Buckets{Buckets::Kind::log2, true}.range_of(number), ValueUnit::plain);
    };
    EXPECT_EQ(log2(0), "[0]");
    EXPECT_EQ(log2(1), "[1]");
    EXPECT_EQ(log2(2), "[2, 4)");
    EXPECT_EQ(log2(11), "[1K, 2K)");
    EXPECT_EQ(log2(31), "[1G, 2G)");
    EXPECT_EQ(log2(62), "[2E, 4E)");
    EXPECT_EQ(log2(-1), "[-1]");
    EXPECT_EQ(log2(-2), "(-4, -2]");
    EXPECT_EQ(log2(-11), "(-2K, -1K]");
    const Buckets linear{Buckets::Kind::linear, false, 1000, 500, 2};
    EXPECT_EQ(format_range(linear.range_of(-1), ValueUnit::plain), "(..., 1000)");
    EXPECT_EQ(format_range(linear.range_of(0), ValueUnit::plain), "[1000, 1500)");
    EXPECT_EQ(format_range(linear.range_of(2), ValueUnit::plain), "[2000, ...)");
}

TEST_F(RenderedAggregate, StatisticsAreColumns) {
    columns_ = {{"pid"}};
    Aggregation all;
    all.add_value({number(7)}, 3000);
    all.add_value({number(7)}, 1000);
    all.add_fault({number(12)});
    const auto table = [&](Statistic statistic) {
        AggregateStyle style;
        style.statistic = statistic;
        return shown(all, style);
    };
    EXPECT_EQ(table(Statistic::sum), "PID CALLS  SUM\n"
                                     "  7     2 4000\n"
                                     " 12     1    ?\n");
    EXPECT_EQ(table(Statistic::avg), "PID CALLS    AVG\n"
                                     "  7     2 2000.0\n"
                                     " 12     1      ?\n");
    EXPECT_THAT(table(Statistic::min), testing::HasSubstr("  7     2 1000\n"));
    EXPECT_THAT(table(Statistic::max), testing::HasSubstr("  7     2 3000\n"));
}

std::string recorded_totals(const RecordedTotals &totals) {
    std::string out;
    append_recorded_totals_json(out, totals);
    return out;
}

TEST(RecordedTotals, AreThoseOfTheCallsWhenTheyWereMade) {
    RecordedTotals totals;
    totals.counts.emplace();
    totals.counts->records = 90;
    totals.counts->filtered = 7;
    totals.counts->sampled = 2;
    totals.counts->capped = 3;
    totals.counts->lost[ARGTRACE_LOST_FULL] = 11;
    totals.counts->lost[ARGTRACE_LOST_RECURSION] = 1;
    totals.counts->faults = 4;
    totals.added = 60;
    totals.filtered = 20;
    totals.left_out = 10;
    EXPECT_EQ(recorded_totals(totals), "{\"calls\":114,\"added\":60,\"filtered\":27,\"sampled\":2,\"capped\":3,\"overflow\":0,"
                                       "\"lost\":12,\"faults\":4,\"left_out\":10}\n");
    totals.added = 55; // five records were overwritten
    EXPECT_EQ(recorded_totals(totals), "{\"calls\":114,\"added\":55,\"filtered\":27,\"sampled\":2,\"capped\":3,\"overflow\":0,"
                                       "\"lost\":17,\"faults\":4,\"left_out\":10}\n");
    ReturnTotals returns;
    returns.in_flight = 2;
    returns.unfollowed[0] = 3;
    totals.returns = &returns;
    EXPECT_THAT(recorded_totals(totals), testing::StartsWith("{\"calls\":119,"));
    EXPECT_THAT(recorded_totals(totals), testing::HasSubstr(",\"in_flight\":2,\"unfollowed\":3,\"left_out\":10}"));
}

TEST(RecordedTotals, AreNullWhereTheyAreNotKnown) {
    RecordedTotals totals;
    totals.added = 60;
    EXPECT_EQ(recorded_totals(totals), "{\"calls\":null,\"added\":60,\"filtered\":null,\"sampled\":null,\"capped\":null,"
                                       "\"overflow\":0,\"lost\":null,\"faults\":null,\"left_out\":0}\n");
}

TEST(RecordedTotals, OfPairsTellWhatHasNone) {
    const Pairing pairing(EventKeys({}, std::nullopt), EventKeys({}, std::nullopt), {});
    RecordedTotals totals;
    totals.pairing = &pairing;
    EXPECT_THAT(recorded_totals(totals), testing::HasSubstr(",\"left_out\":0,\"pairs\":0,\"unpaired\":{\"open\":0,\"replaced\":0,"
                                                            "\"ends\":0,\"unreadable\":0,\"lost\":0,\"given_up\":0}}"));
}

} // namespace
} // namespace argtrace
