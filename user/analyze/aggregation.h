// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/buckets.h"
#include "model/event.h"
#include "util/wide_number.h"

namespace argtrace {

/// One of the values that calls are told apart by.
struct KeyPart {
    Value value;           ///< of text, nothing but its type and `cut`
    std::string text = {}; ///< of STR

    /// Calls with equal keys belong together, whatever type the numbers have.
    bool operator==(const KeyPart &other) const {
        return value.low == other.value.low && value.high == other.value.high && text == other.text;
    }
};

using Key = std::vector<KeyPart>;

/// What the values of some calls come to.
struct Tally {
    std::uint64_t count = 0;  ///< calls
    std::uint64_t faults = 0; ///< of them, those whose value could not be read
    WideNumber sum = 0;       ///< of the values of the others
    std::uint64_t min = 0;    ///< meaningless without values,
    std::uint64_t max = 0;    ///< and this, too

    std::uint64_t values() const { return count - faults; }

    /// The mean of the values; 0 if there are none.
    double mean() const;

    void add_value(std::uint64_t value, const Buckets &buckets);
    void add_fault() { ++count, ++faults; }
    void merge(const Tally &other, bool is_signed);

    /// Takes away what there was earlier. Which values were the least and the greatest since then is
    /// not known: they stay those of all.
    void subtract(const Tally &earlier);

    bool operator==(const Tally &) const = default;
};

/// Calls by their keys: how many they were, and what their values come to, in buckets if there are any.
/// The same whether calls are added one by one or as the slots of a map.
class Aggregation {
public:
    struct Entry {
        Tally total;
        std::map<std::int64_t, Tally> buckets; ///< by number; empty if there are none
    };

    explicit Aggregation(Buckets buckets = {}) : buckets_(buckets) {}

    const Buckets &buckets() const { return buckets_; }

    void add_call(const Key &key) { ++entries_[key].total.count; }
    void add_value(const Key &key, std::uint64_t value);
    void add_fault(const Key &key);
    /// Calls whose values are all in that bucket.
    void add(const Key &key, std::int64_t bucket, const Tally &tally);

    /// Calls of another aggregation with the same buckets.
    void add(Key key, const Entry &entry);

    /// What has come since `earlier`, which is the same aggregation as it was then.
    Aggregation since(const Aggregation &earlier) const;

    /// Whether cut_to() would cut nothing.
    bool fits(std::span<const std::uint32_t> room) const;

    /// The same with text cut to so many bytes, as it is in a map whose keys have no more room. Of 0,
    /// which stands for a number, nothing is cut.
    Aggregation cut_to(std::span<const std::uint32_t> room) const;

    /// All calls.
    std::uint64_t calls() const;

    /// The value which `share` (0 to 1) of an entry's values do not exceed, as far as its buckets tell:
    /// in a bucket, values are taken to be spread evenly from the least to the greatest of them.
    WideNumber percentile(const Entry &entry, double share) const;

    WideNumber min_of(const Tally &tally) const { return buckets_.widen(tally.min); }
    WideNumber max_of(const Tally &tally) const { return buckets_.widen(tally.max); }

    struct Hash {
        std::size_t operator()(const Key &key) const;
    };
    using Entries = std::unordered_map<Key, Entry, Hash>;
    const Entries &entries() const { return entries_; }

private:
    Buckets buckets_;
    Entries entries_;
};

} // namespace argtrace
