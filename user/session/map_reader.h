// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "uapi/argtrace.h"
#include "util/wide_number.h"

namespace argtrace {

/// What the calls of one key come to: see struct argtrace_map_slot.
struct MapTotals {
    std::uint64_t count = 0;  ///< calls
    std::uint64_t faults = 0; ///< of them, those whose value could not be read; 0 without values
    WideNumber sum = 0;       ///< of the values of the others
    std::uint64_t min = 0;    ///< of these; meaningless if there are none
    std::uint64_t max = 0;

    void add(const MapTotals &other, bool is_signed);

    bool operator==(const MapTotals &) const = default;
};

/// The words of a key, and the number of its bucket (a std::int64_t) where the map has buckets.
using MapKey = std::vector<std::uint64_t>;

/// A map as it was at some moment, each key once: the slots of all CPUs, added up.
class MapContents {
public:
    struct Hash {
        std::size_t operator()(const MapKey &key) const;
    };
    using Entries = std::unordered_map<MapKey, MapTotals, Hash>;

    /// `map` is as the module has described it.
    explicit MapContents(const argtrace_map &map) : map_(map) {}

    /// Adds the slots of one CPU and the carries behind them, which may be growing meanwhile: each call that came before is in,
    /// later ones may be, and each slot is that of some moment between.
    void add(std::span<const std::byte> memory);

    const Entries &entries() const { return entries_; }

    /// The sum over all keys.
    std::uint64_t calls() const;

private:
    argtrace_map map_;
    Entries entries_;
};

/// Reads the slots of one CPU, as the kernel writes them.
class MapReader {
public:
    explicit MapReader(const argtrace_map &map);

    /// Bytes that the slots of one CPU take, with their carries.
    std::size_t size() const {
        return slots_size() + (map_.carries ? std::size_t{map_.slots} * sizeof(std::int64_t) : 0);
    }

    /// Bytes that the slots alone take.
    std::size_t slots_size() const { return std::size_t{map_.slots} * map_.slot_size; }

    /// The slot of that number in the memory of a CPU: its key, in `key`, and what its calls come to; nothing if no call has been
    /// added there yet.
    std::optional<MapTotals> read_slot(const std::byte *memory, std::size_t number, MapKey &key) const;

private:
    WideNumber read_sum(const argtrace_map_slot &slot, const std::int64_t *carry) const;
    bool can_be(const MapTotals &totals, std::uint64_t later) const;

    argtrace_map map_;
    bool has_value_, is_signed_;
    std::size_t key_at_, words_;
};

} // namespace argtrace
