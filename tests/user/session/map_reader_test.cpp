// SPDX-License-Identifier: GPL-2.0-only
#include "session/map_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "support/thrown.h"

namespace argtrace {
namespace {

constexpr std::uint64_t claimed = 2, finished = 3;

/// The slots of one CPU, as the kernel would have written them.
class FakeSlots {
public:
    explicit FakeSlots(const argtrace_map &map)
        : map_(map), words_(MapReader(map).size() / 8) {}

    void carry(std::size_t at, std::int64_t carry) {
        words_[map_.carries / 8 + at] = static_cast<std::uint64_t>(carry);
    }

    void set(std::size_t at, std::uint64_t tag, const MapKey &key, const MapTotals &totals) {
        auto *slot = reinterpret_cast<argtrace_map_slot *>(&words_[at * map_.slot_size / 8]);
        slot->tag = tag;
        slot->count = totals.count;
        const bool has_value = map_.flags & ARGTRACE_MAP_VALUE;
        if (has_value) {
            slot->faults = totals.faults;
            slot->sum = static_cast<std::uint64_t>(totals.sum);
            slot->min = totals.min;
            slot->max = totals.max;
        }
        const auto words = std::as_bytes(std::span(key));
        std::copy(words.begin(), words.end(),
                  reinterpret_cast<std::byte *>(slot) +
                      (has_value ? ARGTRACE_MAP_SLOT_KEY_VALUE : ARGTRACE_MAP_SLOT_KEY));
    }

    std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

private:
    argtrace_map map_;
    std::vector<std::uint64_t> words_;
};

argtrace_map counts_map(std::uint16_t key_words) {
    argtrace_map map{};
    map.slots = 64;
    map.key_words = key_words;
    map.slot_size = 32;
    return map;
}

argtrace_map values_map(bool is_signed) {
    argtrace_map map = counts_map(1);
    map.flags = ARGTRACE_MAP_VALUE | (is_signed ? ARGTRACE_MAP_SIGNED : 0u);
    map.slot_size = 64;
    return map;
}

TEST(MapReader, EqualKeysAreAddedUp) {
    const argtrace_map map = counts_map(2);
    FakeSlots first(map), second(map);
    first.set(3, finished, {1, 2}, {.count = 5});
    first.set(4, finished, {1, 2}, {.count = 1}); // an interrupt found the other half made
    first.set(63, finished, {2, 1}, {.count = 7});
    second.set(0, finished, {1, 2}, {.count = 10});
    MapContents contents(map);
    contents.add(first.bytes());
    contents.add(second.bytes());
    ASSERT_EQ(contents.entries().size(), 2u);
    EXPECT_EQ(contents.entries().at({1, 2}).count, 16u);
    EXPECT_EQ(contents.entries().at({2, 1}).count, 7u);
    EXPECT_EQ(contents.calls(), 23u);
}

TEST(MapReader, WhatIsNotFinishedIsNotRead) {
    const argtrace_map map = counts_map(1);
    FakeSlots slots(map);
    slots.set(0, claimed | 0x10, {7}, {.count = 5});
    slots.set(1, finished, {8}, {}); // the call that has claimed it is yet to be counted
    MapContents contents(map);
    contents.add(slots.bytes());
    EXPECT_TRUE(contents.entries().empty());
}

TEST(MapReader, AMapWithoutAKeyHasOneEntry) {
    const argtrace_map map = counts_map(0);
    FakeSlots slots(map);
    slots.set(9, finished, {}, {.count = 3});
    MapContents contents(map);
    contents.add(slots.bytes());
    EXPECT_EQ(contents.entries().at({}).count, 3u);
}

TEST(MapReader, ExtremesAreThoseOfValues) {
    constexpr auto minus_five = static_cast<std::uint64_t>(-5);
    for (const bool is_signed : {false, true}) {
        const argtrace_map map = values_map(is_signed);
        FakeSlots slots(map);
        slots.set(0, finished, {1}, {.count = 3, .faults = 1, .sum = 30, .min = 10, .max = 20});
        slots.set(1, finished, {1},
                  {.count = 1, .sum = minus_five, .min = minus_five, .max = minus_five});
        // Nothing but faults: the extremes are what the kernel begins with.
        slots.set(2, finished, {1},
                  {.count = 2, .faults = 2, .min = is_signed ? std::uint64_t{1} << 62 : ~0ull,
                   .max = is_signed ? std::uint64_t{1} << 63 : 0});
        MapContents contents(map);
        contents.add(slots.bytes());
        const MapTotals expected{.count = 6, .faults = 3, .sum = is_signed ? WideNumber{25} : 30 + WideNumber{minus_five},
                                 .min = is_signed ? minus_five : 10,
                                 .max = is_signed ? 20 : minus_five};
        EXPECT_EQ(contents.entries().at({1}), expected) << is_signed;
    }
}

/// With carries, as a module of today makes it.
argtrace_map carrying_map(bool is_signed) {
    argtrace_map map = values_map(is_signed);
    map.carries = map.slots * map.slot_size;
    return map;
}

TEST(MapReader, SumsHaveTheirCarries) {
    constexpr std::uint64_t half = std::uint64_t{1} << 63;
    constexpr WideNumber whole = WideNumber{1} << 64;
    for (const bool is_signed : {false, true}) {
        const argtrace_map map = carrying_map(is_signed);
        FakeSlots first(map), second(map);
        // 3 times 2^63 - 1, and on another CPU 2^63 or -2^63 five times.
        const std::uint64_t most = half - 1;
        first.set(0, finished, {1}, {.count = 3, .sum = WideNumber{3} * most, .min = most, .max = most});
        first.carry(0, 1);
        second.set(63, finished, {1}, {.count = 5, .sum = WideNumber{5} * half, .min = half, .max = half});
        second.carry(63, is_signed ? -2 : 2);
        MapContents contents(map);
        contents.add(first.bytes());
        contents.add(second.bytes());
        const WideNumber expected = 3 * WideNumber{most} + (is_signed ? -5 : 5) * WideNumber{half};
        EXPECT_TRUE(contents.entries().at({1}).sum == expected) << is_signed;
        EXPECT_TRUE(expected > whole || is_signed);
    }
}

TEST(MapReader, NothingButFaultsHasNoExtremes) {
    MapTotals totals, faults{.count = 2, .faults = 2, .sum = 0, .min = ~0ull, .max = 0};
    totals.add(faults, false);
    totals.add({.count = 1, .faults = 0, .sum = 7, .min = 7, .max = 7}, false);
    EXPECT_EQ(totals, (MapTotals{.count = 3, .faults = 2, .sum = 7, .min = 7, .max = 7}));
    totals.add(faults, false);
    EXPECT_EQ(totals.min, 7u);
    EXPECT_EQ(totals.max, 7u);
}

// While a call is being counted, its fault may already be, and the call itself not yet.
TEST(MapReader, ThereAreNoMoreFaultsThanCalls) {
    const argtrace_map map = values_map(false);
    FakeSlots slots(map);
    slots.set(0, finished, {1}, {.count = 4, .faults = 5});
    MapContents contents(map);
    contents.add(slots.bytes());
    EXPECT_EQ(contents.entries().at({1}).faults, 4u);
}

TEST(MapReader, TheBucketIsTheLastWord) {
    argtrace_map map = values_map(true);
    map.buckets = ARGTRACE_BUCKETS_LOG2;
    FakeSlots slots(map);
    slots.set(5, finished, {1, static_cast<std::uint64_t>(-3)}, {.count = 1, .sum = 1});
    slots.set(6, finished, {1, 3}, {.count = 2, .sum = 10});
    MapContents contents(map);
    contents.add(slots.bytes());
    ASSERT_EQ(contents.entries().size(), 2u);
    EXPECT_EQ(contents.entries().at({1, static_cast<std::uint64_t>(-3)}).count, 1u);
}

TEST(MapReader, SlotsThatCannotBe) {
    argtrace_map map = counts_map(3);
    EXPECT_EQ(thrown([&] { MapReader reader(map); }),
              "the module describes a map whose slots of 32 bytes do not hold its keys");
    map = counts_map(1);
    map.slot_size = 28;
    EXPECT_EQ(thrown([&] { MapReader reader(map); }),
              "the module describes a map whose slots of 28 bytes do not hold its keys");
    map = carrying_map(false);
    map.carries -= 8;
    EXPECT_EQ(thrown([&] { MapReader reader(map); }),
              "the module describes a map of 64 slots with 64 bytes each whose carries are at 4088");
    MapContents contents(carrying_map(false));
    EXPECT_EQ(thrown([&] { contents.add(std::span<const std::byte>()); }), "the slots of a map take 4608 bytes, not 0");
}

} // namespace
} // namespace argtrace
