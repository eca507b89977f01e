// SPDX-License-Identifier: GPL-2.0-only
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analyze/aggregation.h"

namespace argtrace {
namespace {

constexpr auto greatest = std::numeric_limits<std::uint64_t>::max();
constexpr auto least_signed = std::numeric_limits<std::int64_t>::min();

Buckets log2_buckets(bool is_signed = false) {
    return {Buckets::Kind::log2, is_signed};
}

Buckets linear_buckets(std::uint64_t low, std::uint64_t step, std::uint32_t count,
                       bool is_signed = false) {
    return {Buckets::Kind::linear, is_signed, low, step, count};
}

std::uint64_t unsigned_of(std::int64_t value) {
    return static_cast<std::uint64_t>(value);
}

Key number_key(std::uint64_t number) {
    return {{{number, 0, ARGTRACE_TYPE_U64, true}}};
}

Key text_key(std::string text) {
    return {{{0, 0, ARGTRACE_TYPE_STR, true}, std::move(text)}};
}

/// What the number of a bucket and its range say of each other.
void expect_range_holds(const Buckets &buckets, std::uint64_t value) {
    const auto number = buckets.number_of(value);
    const Buckets::Range range = buckets.range_of(number);
    const WideNumber wide = buckets.widen(value);
    EXPECT_TRUE(range.open_below || range.from <= wide) << value << " in bucket " << number;
    EXPECT_TRUE(range.open_above || wide < range.to) << value << " in bucket " << number;
}

TEST(Buckets, OfPowersOfTwoBeginAtThem) {
    const Buckets buckets = log2_buckets();
    EXPECT_EQ(buckets.number_of(0), 0);
    EXPECT_EQ(buckets.number_of(1), 1);
    EXPECT_EQ(buckets.number_of(2), 2);
    EXPECT_EQ(buckets.number_of(3), 2);
    EXPECT_EQ(buckets.number_of(4), 3);
    EXPECT_EQ(buckets.number_of(greatest), 64);
    EXPECT_EQ(buckets.range_of(0), (Buckets::Range{0, 1}));
    EXPECT_EQ(buckets.range_of(1), (Buckets::Range{1, 2}));
    EXPECT_EQ(buckets.range_of(13), (Buckets::Range{4096, 8192}));
    EXPECT_EQ(buckets.range_of(64).to, WideNumber{1} << 64);
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t edge = std::uint64_t{1} << bit;
        EXPECT_EQ(buckets.number_of(edge), bit + 1);
        EXPECT_EQ(buckets.number_of(edge - 1), bit) << "just below 2^" << bit;
        expect_range_holds(buckets, edge);
        expect_range_holds(buckets, edge - 1);
    }
}

TEST(Buckets, OfNegativeNumbersMirrorThoseOfPositiveOnes) {
    const Buckets buckets = log2_buckets(true);
    EXPECT_EQ(buckets.number_of(unsigned_of(-1)), -1);
    EXPECT_EQ(buckets.number_of(unsigned_of(-2)), -2);
    EXPECT_EQ(buckets.number_of(unsigned_of(-3)), -2);
    EXPECT_EQ(buckets.number_of(unsigned_of(-4)), -3);
    EXPECT_EQ(buckets.number_of(unsigned_of(least_signed)), -64);
    EXPECT_EQ(buckets.range_of(-1), (Buckets::Range{-1, 0}));
    EXPECT_EQ(buckets.range_of(-2), (Buckets::Range{-3, -1}));
    EXPECT_EQ(buckets.range_of(-3), (Buckets::Range{-7, -3}));
    EXPECT_EQ(buckets.range_of(-64).from, WideNumber{least_signed});
    for (const std::int64_t value : {std::int64_t{-1}, std::int64_t{-2}, std::int64_t{-1023},
                                     std::int64_t{-1024}, least_signed, least_signed + 1})
        expect_range_holds(buckets, unsigned_of(value));
    EXPECT_EQ(log2_buckets().number_of(unsigned_of(-1)), 64) << "of an unsigned number";
}

TEST(Buckets, OfEqualWidthHaveOneBelowAndOneAbove) {
    const Buckets buckets = linear_buckets(100, 50, 4); // up to 300
    EXPECT_EQ(buckets.number_of(0), -1);
    EXPECT_EQ(buckets.number_of(99), -1);
    EXPECT_EQ(buckets.number_of(100), 0);
    EXPECT_EQ(buckets.number_of(149), 0);
    EXPECT_EQ(buckets.number_of(150), 1);
    EXPECT_EQ(buckets.number_of(299), 3);
    EXPECT_EQ(buckets.number_of(300), 4);
    EXPECT_EQ(buckets.number_of(greatest), 4);
    EXPECT_TRUE(buckets.range_of(-1).open_below);
    EXPECT_EQ(buckets.range_of(-1).to, 100);
    EXPECT_EQ(buckets.range_of(3), (Buckets::Range{250, 300}));
    EXPECT_TRUE(buckets.range_of(4).open_above);
    EXPECT_EQ(buckets.range_of(4).from, 300);

    const Buckets below_zero = linear_buckets(unsigned_of(-10), 5, 4, true); // up to 10
    EXPECT_EQ(below_zero.number_of(unsigned_of(-11)), -1);
    EXPECT_EQ(below_zero.number_of(unsigned_of(-10)), 0);
    EXPECT_EQ(below_zero.number_of(unsigned_of(-1)), 1);
    EXPECT_EQ(below_zero.number_of(0), 2);
    EXPECT_EQ(below_zero.number_of(10), 4);
    EXPECT_EQ(below_zero.range_of(1), (Buckets::Range{-5, 0}));
}

TEST(Aggregation, AddsValuesUp) {
    Aggregation all;
    for (const std::uint64_t value : {5, 3, 9})
        all.add_value(number_key(1), value);
    all.add_fault(number_key(1));
    all.add_value(number_key(2), 7);
    ASSERT_EQ(all.entries().size(), 2u);
    const Tally &tally = all.entries().at(number_key(1)).total;
    EXPECT_EQ(tally, (Tally{4, 1, 17, 3, 9}));
    EXPECT_DOUBLE_EQ(tally.mean(), 17.0 / 3) << "of those that could be read";
    EXPECT_EQ(all.calls(), 5u);
    EXPECT_TRUE(all.entries().at(number_key(1)).buckets.empty());
}

TEST(Aggregation, KnowsWhatIsLessThanZero) {
    Aggregation signed_values(Buckets{Buckets::Kind::none, true});
    Aggregation unsigned_values;
    for (const std::int64_t value : {-2, 1, -5}) {
        signed_values.add_value({}, unsigned_of(value));
        unsigned_values.add_value({}, unsigned_of(value));
    }
    const Tally &tally = signed_values.entries().at({}).total;
    EXPECT_EQ(signed_values.min_of(tally), -5);
    EXPECT_EQ(signed_values.max_of(tally), 1);
    EXPECT_EQ(tally.sum, -6);
    EXPECT_DOUBLE_EQ(tally.mean(), -2);
    const Tally &other = unsigned_values.entries().at({}).total;
    EXPECT_EQ(other.min, 1u);
    EXPECT_EQ(other.max, unsigned_of(-2));
}

// Two of the greatest signed numbers have a sum that is no number of 64 bits.
TEST(Aggregation, SumsAreWiderThanTheirValues) {
    constexpr WideNumber greatest = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
    Aggregation signed_values(Buckets{Buckets::Kind::none, true}), unsigned_values;
    for (int i = 0; i < 2; ++i) {
        signed_values.add_value(number_key(1), unsigned_of(std::numeric_limits<std::int64_t>::max()));
        signed_values.add_value(number_key(2), unsigned_of(std::numeric_limits<std::int64_t>::min()));
        unsigned_values.add_value({}, std::numeric_limits<std::uint64_t>::max());
    }
    EXPECT_TRUE(signed_values.entries().at(number_key(1)).total.sum == 2 * greatest);
    EXPECT_TRUE(signed_values.entries().at(number_key(2)).total.sum == 2 * least);
    EXPECT_TRUE(unsigned_values.entries().at({}).total.sum == 2 * WideNumber{std::numeric_limits<std::uint64_t>::max()});
    // What has come since is exact as well, and so are two that are put together.
    const Aggregation before = unsigned_values;
    unsigned_values.add_value({}, 5);
    EXPECT_TRUE(unsigned_values.since(before).entries().at({}).total.sum == 5);
    unsigned_values.add({}, before.entries().at({}));
    EXPECT_TRUE(unsigned_values.entries().at({}).total.sum == 4 * WideNumber{std::numeric_limits<std::uint64_t>::max()} + 5);
}

TEST(Aggregation, IsTheSameFromCallsAndFromSlots) {
    Aggregation calls(log2_buckets());
    Aggregation slots(log2_buckets());
    for (std::uint64_t value = 0; value < 1000; ++value)
        calls.add_value(text_key(value % 2 ? "odd" : "even"), value);
    calls.add_fault(text_key("odd"));
    // As two CPUs have them, each with half of the values of each bucket.
    for (unsigned half = 0; half < 2; ++half)
        for (const char *name : {"even", "odd"}) {
            std::map<std::int64_t, Tally> tallies;
            for (std::uint64_t value = half * 500; value < half * 500 + 500; ++value)
                if (value % 2 == (name == std::string("odd")))
                    tallies[slots.buckets().number_of(value)].add_value(value, slots.buckets());
            for (const auto &[number, tally] : tallies)
                slots.add(text_key(name), number, tally);
        }
    slots.add(text_key("odd"), 0, Tally{1, 1, 0, 0, 0});
    ASSERT_EQ(calls.entries().size(), slots.entries().size());
    for (const auto &[key, entry] : calls.entries()) {
        const Aggregation::Entry &other = slots.entries().at(key);
        EXPECT_EQ(entry.total, other.total);
        EXPECT_EQ(entry.buckets, other.buckets);
        EXPECT_EQ(calls.percentile(entry, 0.9), slots.percentile(other, 0.9));
    }
}

TEST(Aggregation, KeysOfEqualNumbersAreOneWhateverTheirTypes) {
    Aggregation all;
    all.add_call({{{5, 0, ARGTRACE_TYPE_S32, true}}});
    all.add_call({{{5, 0, ARGTRACE_TYPE_U64, true}}});
    all.add_call(text_key("5"));
    all.add_call({});
    EXPECT_EQ(all.entries().size(), 3u);
    EXPECT_EQ(all.entries().at(number_key(5)).total.count, 2u);
}

TEST(Aggregation, TellsWhatHasComeSince) {
    Aggregation all(log2_buckets());
    all.add_value(number_key(1), 4);
    all.add_value(number_key(2), 4);
    const Aggregation before = all;
    all.add_value(number_key(1), 5);
    all.add_value(number_key(1), 100);
    all.add_value(number_key(3), 1);
    const Aggregation since = all.since(before);
    ASSERT_EQ(since.entries().size(), 2u) << "of 2 nothing has come";
    const Aggregation::Entry &more = since.entries().at(number_key(1));
    EXPECT_EQ(more.total.count, 2u);
    EXPECT_EQ(more.total.sum, 105);
    ASSERT_EQ(more.buckets.size(), 2u);
    EXPECT_EQ(more.buckets.at(3).count, 1u);
    EXPECT_EQ(more.buckets.at(7).count, 1u);
    EXPECT_EQ(since.entries().at(number_key(3)).total, (Tally{1, 0, 1, 1, 1}));
    EXPECT_TRUE(all.since(all).entries().empty());
}

TEST(Aggregation, PercentilesAreExactForEquallySpacedValues) {
    Aggregation all(log2_buckets());
    for (std::uint64_t value = 1; value <= 1000; ++value)
        all.add_value({}, value);
    const Aggregation::Entry &entry = all.entries().at({});
    EXPECT_EQ(all.percentile(entry, 0), 1);
    EXPECT_EQ(all.percentile(entry, 0.5), 500);
    EXPECT_EQ(all.percentile(entry, 0.9), 900);
    EXPECT_EQ(all.percentile(entry, 0.99), 990);
    EXPECT_EQ(all.percentile(entry, 1), 1000);

    Aggregation one(log2_buckets(true));
    one.add_value({}, unsigned_of(-7));
    EXPECT_EQ(one.percentile(one.entries().at({}), 0.5), -7);
    Aggregation none(log2_buckets());
    none.add_fault({});
    EXPECT_EQ(none.percentile(none.entries().at({}), 0.5), 0);
}

} // namespace
} // namespace argtrace
