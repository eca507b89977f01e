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

// How often one whose sum cannot be that of its values is read again. Between the instruction that makes a sum wrap and the one that
// carries there is nothing but an interrupt.
constexpr int attempts_to_carry = 10000;

// Calls that may have been added to the sum, and not been counted yet: one in each context of the CPU that can interrupt the others.
constexpr WideNumber calls_under_way = 4;

template<typename Number>
Number load(const Number &number) {
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
    : map_(map), has_value_(map.flags & ARGTRACE_MAP_VALUE), is_signed_(map.flags & ARGTRACE_MAP_SIGNED),
      key_at_(has_value_ ? ARGTRACE_MAP_SLOT_KEY_VALUE : ARGTRACE_MAP_SLOT_KEY),
      words_(map.key_words + (map.buckets == ARGTRACE_BUCKETS_NONE ? 0u : 1u)) {
    if (map.slot_size % sizeof(std::uint64_t) != 0 ||
        map.slot_size < key_at_ + words_ * sizeof(std::uint64_t))
        throw Error(fmt::format("the module describes a map whose slots of {} bytes do not hold its "
                                "keys",
                                map.slot_size));
    if (map.carries != 0 && (map.carries != slots_size() || !has_value_))
        throw Error(fmt::format("the module describes a map of {} slots with {} bytes each whose carries are at {}", map.slots,
                                map.slot_size, map.carries));
}

/// `carry` is null where the module keeps none.
WideNumber MapReader::read_sum(const argtrace_map_slot &slot, const std::int64_t *carry) const {
    const WideNumber sum = widen(load(slot.sum), is_signed_);
    return carry ? sum + WideNumber{load(*carry)} * (WideNumber{1} << 64) : sum;
}

/// Whether as many values between the least and the greatest can have that sum, when `later` calls have been counted since it was read.
bool MapReader::can_be(const MapTotals &totals, std::uint64_t later) const {
    if (totals.count <= totals.faults)
        return true;
    const WideNumber values = WideNumber{totals.count} - totals.faults, more = WideNumber{later} + calls_under_way;
    const WideNumber min = widen(totals.min, is_signed_), max = widen(totals.max, is_signed_);
    return totals.sum >= min * (min < 0 ? more : values) && totals.sum <= max * (max < 0 ? values : more);
}

std::optional<MapTotals> MapReader::read_slot(const std::byte *memory, std::size_t number, MapKey &key) const {
    const std::byte *slot = memory + number * map_.slot_size;
    const auto *numbers = reinterpret_cast<const argtrace_map_slot *>(slot);
    const auto *carry = map_.carries ? reinterpret_cast<const std::int64_t *>(memory + map_.carries) + number : nullptr;
    // Pairs with step D of find_slot() (kmod/sink/map.c).
    if (!(load(numbers->tag) & key_is_there))
        return std::nullopt;
    MapTotals totals{};
    // The kernel counts last: what is read after the count has the values of as many calls at least.
    totals.count = load(numbers->count);
    bool carried = true;
    for (int i = 0; has_value_ && i < (carried ? attempts : attempts_to_carry); ++i) {
        totals.faults = load(numbers->faults);
        totals.sum = read_sum(*numbers, carry);
        const WideNumber again = read_sum(*numbers, carry); // or the carry may be that of a later sum
        totals.min = load(numbers->min);
        totals.max = load(numbers->max);
        const std::uint64_t count = load(numbers->count);
        carried = !carry || (totals.sum == again && can_be(totals, count));
        if (carried && count == totals.count)
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

void MapContents::add(std::span<const std::byte> memory) {
    const MapReader reader(map_);
    const bool is_signed = map_.flags & ARGTRACE_MAP_SIGNED;
    MapKey key;
    if (memory.size() < reader.size())
        throw Error(fmt::format("the slots of a map take {} bytes, not {}", reader.size(), memory.size()));
    for (std::size_t number = 0; number < map_.slots; ++number) {
        if (const auto totals = reader.read_slot(memory.data(), number, key))
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
