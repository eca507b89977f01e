// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/map_aggregation.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace argtrace {
namespace {

/// The slots of a CPU as the module lays them out.
class Slots {
public:
    Slots(const AggregatedFunctions &functions, bool has_value, std::uint16_t buckets) {
        map_.slots = ARGTRACE_MAP_SLOTS_MIN;
        map_.key_words = functions.key_words();
        map_.flags = has_value ? ARGTRACE_MAP_VALUE : 0;
        map_.buckets = buckets;
        map_.slot_size = 128;
        bytes_.resize(std::size_t{map_.slots} * map_.slot_size);
    }

    void add(const std::vector<std::uint64_t> &key, const argtrace_map_slot &totals) {
        std::byte *slot = bytes_.data() + map_.slot_size * next_++;
        argtrace_map_slot with_tag = totals;
        with_tag.tag = 1 + 2 * next_;
        const bool has_value = map_.flags & ARGTRACE_MAP_VALUE;
        const std::size_t at = has_value ? ARGTRACE_MAP_SLOT_KEY_VALUE : ARGTRACE_MAP_SLOT_KEY;
        std::memcpy(slot, &with_tag, at);
        std::memcpy(slot + at, key.data(), key.size() * sizeof(key[0]));
    }

    MapContents contents() const {
        MapContents contents(map_);
        contents.add(bytes_);
        return contents;
    }

private:
    argtrace_map map_{};
    std::vector<std::byte> bytes_;
    std::size_t next_ = 0;
};

std::vector<std::uint64_t> words(const std::string &text, std::size_t count) {
    std::vector<std::uint64_t> words(count);
    std::memcpy(words.data(), text.data(), text.size());
    return words;
}

argtrace_map_slot totals(std::uint64_t count) {
    argtrace_map_slot totals{};
    totals.count = count;
    return totals;
}

AggregatedFunctions functions_by(std::vector<KeyDescription> keys) {
    AggregatedFunctions functions;
    functions.keys = std::move(keys);
    functions.names = {"vfs_read", "vfs_write"};
    return functions;
}

TEST(MapAggregation, KeysAreWhatTheirWordsMean) {
    KeyDescription function, number, text;
    function.is_function = true;
    number.type = ARGTRACE_TYPE_S32;
    text.type = ARGTRACE_TYPE_STR;
    text.room = 16;
    text.length = 16;
    const AggregatedFunctions functions = functions_by({number, text, function});
    EXPECT_EQ(functions.key_words(), 4u);
    Slots slots(functions, false, ARGTRACE_BUCKETS_NONE);
    std::vector<std::uint64_t> key{~std::uint64_t{0}};
    for (const std::uint64_t word : words("dd", 2))
        key.push_back(word);
    key.push_back(1);
    slots.add(key, totals(3));
    key.back() = 7; // not one that user space gave
    slots.add(key, totals(1));
    const Aggregation all = aggregate_of(slots.contents(), functions, {});
    ASSERT_EQ(all.entries().size(), 2u);
    EXPECT_EQ(all.calls(), 4u);
    for (const auto &[parts, entry] : all.entries()) {
        EXPECT_EQ(static_cast<std::int64_t>(parts[0].value.low), -1);
        EXPECT_EQ(parts[0].value.type, ARGTRACE_TYPE_S32);
        EXPECT_EQ(parts[1].text, "dd") << "up to its NUL";
        EXPECT_FALSE(parts[1].value.cut);
        EXPECT_EQ(parts[2].text, entry.total.count == 3 ? "vfs_write" : "?");
    }
}

TEST(MapAggregation, TextIsNoLongerThanItsTypeAndCutByItsRoom) {
    KeyDescription text;
    text.type = ARGTRACE_TYPE_STR;
    text.room = 8;
    text.length = 5; // char name[5], and what lies behind it
    AggregatedFunctions functions = functions_by({text});
    Slots array(functions, false, ARGTRACE_BUCKETS_NONE);
    array.add(words("abcdeXYZ", 1), totals(1));
    array.add(words("abcdeRST", 1), totals(1));
    const Aggregation names = aggregate_of(array.contents(), functions, {});
    ASSERT_EQ(names.entries().size(), 1u) << "of one name";
    EXPECT_EQ(names.entries().begin()->first[0].text, "abcde");
    EXPECT_EQ(names.entries().begin()->second.total.count, 2u);

    functions.keys[0].length = 256;
    Slots longer(functions, false, ARGTRACE_BUCKETS_NONE);
    longer.add(words("abcdefgh", 1), totals(1));
    const Aggregation cut = aggregate_of(longer.contents(), functions, {});
    EXPECT_EQ(cut.entries().begin()->first[0].text, "abcdefgh");
    EXPECT_TRUE(cut.entries().begin()->first[0].value.cut);
}

TEST(MapAggregation, BucketsBelongToTheirKey) {
    KeyDescription number;
    const AggregatedFunctions functions = functions_by({number});
    Slots slots(functions, true, ARGTRACE_BUCKETS_LOG2);
    slots.add({5, 13}, argtrace_map_slot{0, 2, 0, 9000, 4100, 4900});
    slots.add({5, static_cast<std::uint64_t>(-1)}, argtrace_map_slot{0, 3, 1, 2, 1, 1});
    const Aggregation all =
        aggregate_of(slots.contents(), functions, Buckets{Buckets::Kind::log2, false});
    ASSERT_EQ(all.entries().size(), 1u);
    const Aggregation::Entry &entry = all.entries().begin()->second;
    EXPECT_EQ(entry.total, (Tally{5, 1, 9002, 1, 4900}));
    EXPECT_EQ(entry.buckets.at(13).count, 2u);
    EXPECT_EQ(entry.buckets.at(-1).count, 2u) << "those that could be read";
}

} // namespace
} // namespace argtrace
