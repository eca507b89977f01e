// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/aggregation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

namespace argtrace {

namespace {

bool is_less(std::uint64_t a, std::uint64_t b, bool is_signed) {
    return is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
}

} // namespace

void Tally::add_value(std::uint64_t value, const Buckets &buckets) {
    merge({1, 0, buckets.widen(value), value, value}, buckets.is_signed);
}

void Tally::merge(const Tally &other, bool is_signed) {
    if (other.values() > 0) {
        const bool first = values() == 0;
        if (first || is_less(other.min, min, is_signed))
            min = other.min;
        if (first || is_less(max, other.max, is_signed))
            max = other.max;
    }
    count += other.count;
    faults += other.faults;
    sum += other.sum;
}

void Tally::subtract(const Tally &earlier) {
    count -= earlier.count;
    faults -= earlier.faults;
    sum -= earlier.sum;
}

void Aggregation::add_value(const Key &key, std::uint64_t value) {
    Entry &entry = entries_[key];
    entry.total.add_value(value, buckets_);
    if (buckets_.kind != Buckets::Kind::none)
        entry.buckets[buckets_.number_of(value)].add_value(value, buckets_);
}

void Aggregation::add_fault(const Key &key) {
    entries_[key].total.add_fault();
}

void Aggregation::add(const Key &key, std::int64_t bucket, const Tally &tally) {
    Entry &entry = entries_[key];
    entry.total.merge(tally, buckets_.is_signed);
    if (buckets_.kind == Buckets::Kind::none || tally.values() == 0)
        return;
    Tally readable = tally; // those that could not be read are in no bucket
    readable.count -= readable.faults;
    readable.faults = 0;
    entry.buckets[bucket].merge(readable, buckets_.is_signed);
}

Aggregation Aggregation::since(const Aggregation &earlier) const {
    Aggregation rest(buckets_);
    for (const auto &[key, entry] : entries_) {
        const auto before = earlier.entries_.find(key);
        if (before == earlier.entries_.end()) {
            rest.entries_.emplace(key, entry);
            continue;
        }
        const Entry &old = before->second;
        if (entry.total.count == old.total.count)
            continue;
        Entry &more = rest.entries_[key];
        more.total = entry.total;
        more.total.subtract(old.total);
        for (const auto &[number, tally] : entry.buckets) {
            Tally difference = tally;
            if (const auto known = old.buckets.find(number); known != old.buckets.end())
                difference.subtract(known->second);
            if (difference.count > 0)
                more.buckets.emplace(number, difference);
        }
    }
    return rest;
}

namespace {

bool is_too_long(const Key &key, std::size_t part, std::span<const std::uint32_t> room) {
    return part < room.size() && room[part] > 0 && key[part].text.size() > room[part];
}

} // namespace

bool Aggregation::fits(std::span<const std::uint32_t> room) const {
    if (std::all_of(room.begin(), room.end(), [](std::uint32_t bytes) { return bytes == 0; }))
        return true;
    for (const auto &[key, entry] : entries_)
        for (std::size_t i = 0; i < key.size(); ++i)
            if (is_too_long(key, i, room))
                return false;
    return true;
}

Aggregation Aggregation::cut_to(std::span<const std::uint32_t> room) const {
    Aggregation fitted(buckets_);
    for (const auto &[key, entry] : entries_) {
        Key shorter = key;
        for (std::size_t i = 0; i < shorter.size(); ++i)
            if (is_too_long(shorter, i, room)) {
                shorter[i].text.resize(room[i]);
                shorter[i].value.cut = true;
            }
        fitted.add(std::move(shorter), entry);
    }
    return fitted;
}

void Aggregation::add(Key key, const Entry &entry) {
    Entry &to = entries_[std::move(key)];
    to.total.merge(entry.total, buckets_.is_signed);
    for (const auto &[number, tally] : entry.buckets)
        to.buckets[number].merge(tally, buckets_.is_signed);
}

std::uint64_t Aggregation::calls() const {
    std::uint64_t calls = 0;
    for (const auto &[key, entry] : entries_)
        calls += entry.total.count;
    return calls;
}

WideNumber Aggregation::percentile(const Entry &entry, double share) const {
    std::uint64_t count = 0;
    for (const auto &[number, tally] : entry.buckets)
        count += tally.count;
    if (count == 0)
        return 0;
    const double exact = std::ceil(share * static_cast<double>(count));
    const std::uint64_t rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(exact), 1, count);
    std::uint64_t before = 0;
    for (const auto &[number, tally] : entry.buckets) {
        if (rank > before + tally.count) {
            before += tally.count;
            continue;
        }
        const WideNumber least = min_of(tally), greatest = max_of(tally);
        if (tally.count == 1)
            return greatest;
        return least + (greatest - least) * (rank - before - 1) / (tally.count - 1);
    }
    return 0;
}

double Tally::mean() const {
    return values() > 0 ? static_cast<double>(sum) / static_cast<double>(values()) : 0;
}

std::size_t Aggregation::Hash::operator()(const Key &key) const {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15; // 2^64 / golden ratio
    std::uint64_t hash = key.size();
    for (const KeyPart &part : key) {
        hash = (hash ^ part.value.low ^ part.value.high) * odd;
        if (!part.text.empty())
            hash ^= std::hash<std::string_view>()(part.text);
        hash ^= hash >> 32;
    }
    return hash;
}

} // namespace argtrace
