// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analyze/aggregation.h"
#include "analyze/event_keys.h"

namespace argtrace {

/// How long it takes from calls of some functions to calls of others in which a value is the same: a
/// request, say, from where it is started to where it ends. Calls come in the order of time.
class Pairing {
public:
    /// `keys` are those of the calls that begin a pair; the value of both is what pairs them.
    Pairing(EventKeys begins, EventKeys ends, Buckets buckets)
        : begins_(std::move(begins)), ends_(std::move(ends)), pairs_(buckets) {}

    /// A call that ends a pair, or begins one, or does both; then it ends one first.
    void take(const EventView &view, bool begins, bool ends);

    const Aggregation &pairs() const { return pairs_; }

    /// Calls that are in no pair.
    struct Unpaired {
        std::uint64_t replaced = 0;   ///< another one began with the same value
        std::uint64_t open = 0;       ///< not ended yet
        std::uint64_t ends = 0;       ///< no call has begun with that value
        std::uint64_t unreadable = 0; ///< the value could not be read
    };
    Unpaired unpaired() const;

    /// Calls that were taken, and those of them whose functions have not recorded what it takes.
    std::uint64_t calls() const { return calls_; }
    std::uint64_t left_out() const { return left_out_; }

private:
    struct Begun {
        std::uint64_t time;
        Key key;
    };

    // Both are false if the function has not recorded what it takes.
    bool begin(const EventView &view);
    bool end(const EventView &view);

    EventKeys begins_, ends_;
    Aggregation pairs_;
    std::uint64_t calls_ = 0, left_out_ = 0;
    std::unordered_map<std::uint64_t, Begun> open_; // by value
    Unpaired unpaired_;
};

} // namespace argtrace
