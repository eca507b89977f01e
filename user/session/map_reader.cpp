// SPDX-License-Identifier: GPL-2.0-only
#include "session/map_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

namespace {

constexpr std::uint64_t key_is_there = 1; // of a tag

// How often a slot that is being added to is read again, before it is taken as it is.
constexpr int attempts = 8;

std::uint64_t load(const std::uint64_t &number) {
    return __atomic_load_n(&number, __ATOMIC_ACQUIRE);
}

bool is_lower(std::uint64_t a, std::uint64_t b, bool is_signed) {
    return is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
}

} // namespace

void MapTotals::add(const MapTotals &other, bool is_signed) {
    if (other.count > other.faults) {
        const bool first = count == faults;
        if (first || is_lower(other.min, min, is_signed))
            min = other.min;
        if (first || is_lower(max, other.max, is_signed))
            max = other.max;
    }
    count += other.count;
    faults += other.faults;
    sum += other.sum;
}

MapReader::MapReader(const argtrace_map &map)
    : map_(map), has_value_(map.flags & ARGTRACE_MAP_VALUE),
      key_at_(has_value_ ? ARGTRACE_MAP_SLOT_KEY_VALUE : ARGTRACE_MAP_SLOT_KEY),
      words_(map.key_words + (map.buckets == ARGTRACE_BUCKETS_NONE ? 0u : 1u)) {
    if (map.slot_size % sizeof(std::uint64_t) != 0 ||
        map.slot_size < key_at_ + words_ * sizeof(std::uint64_t))
        throw Error(fmt::format("the module describes a map whose slots of {} bytes do not hold its "
                                "keys",
                                map.slot_size));
}

std::optional<MapTotals> MapReader::read_slot(const std::byte *slot, MapKey &key) const {
    const auto *numbers = reinterpret_cast<const argtrace_map_slot *>(slot);
    // Pairs with step D of find_slot() (kmod/sink/map.c).
    if (!(load(numbers->tag) & key_is_there))
        return std::nullopt;
    MapTotals totals{};
    // The kernel counts last: what is read after the count has the values of as many calls at least.
    totals.count = load(numbers->count);
    for (int i = 0; has_value_ && i < attempts; ++i) {
        totals.faults = load(numbers->faults);
        totals.sum = load(numbers->sum);
        totals.min = load(numbers->min);
        totals.max = load(numbers->max);
        const std::uint64_t count = load(numbers->count);
        if (count == totals.count)
            break;
        totals.count = count;
    }
    if (totals.count == 0)
        return std::nullopt;
    totals.faults = std::min(totals.faults, totals.count);
    const auto *words = reinterpret_cast<const std::uint64_t *>(slot + key_at_);
    key.assign(words, words + words_);
    return totals;
}

std::size_t MapContents::Hash::operator()(const MapKey &key) const {
    std::uint64_t hash = 0;
    for (const std::uint64_t word : key) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

void MapContents::add(std::span<const std::byte> slots) {
    const MapReader reader(map_);
    const bool is_signed = map_.flags & ARGTRACE_MAP_SIGNED;
    MapKey key;
    for (std::size_t at = 0; at + map_.slot_size <= std::min(slots.size(), reader.size());
         at += map_.slot_size) {
        if (const auto totals = reader.read_slot(slots.data() + at, key))
            entries_[key].add(*totals, is_signed);
    }
}

std::uint64_t MapContents::calls() const {
    std::uint64_t calls = 0;
    for (const auto &[key, totals] : entries_)
        calls += totals.count;
    return calls;
}

} // namespace argtrace
