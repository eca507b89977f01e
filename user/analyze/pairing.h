// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analyze/aggregation.h"
#include "analyze/event_keys.h"
#include "analyze/loss_gaps.h"

namespace argtrace {

/// How long it takes from calls of some functions to calls of others in which a value is the same: a
/// request, say, from where it is started to where it ends. Calls come in the order of time. What was open when records were lost
/// is in no pair: its end may have been among them, and the next call with that value would be another one's.
class Pairing {
public:
    /// `keys` are those of the calls that begin a pair; the value of both is what pairs them. Of those that have not ended, the
    /// newest `open_max` are kept at least, and no more than twice as many.
    Pairing(EventKeys begins, EventKeys ends, Buckets buckets, std::size_t open_max = default_open_max)
        : begins_(std::move(begins)), ends_(std::move(ends)), pairs_(buckets), open_max_(open_max) {}

    /// A call that ends a pair, or begins one, or does both; then it ends one first.
    void take(const EventView &view, bool begins, bool ends);

    /// Between these times records were lost. Said before any call is taken that was made after `from`.
    void lost(std::uint64_t from, std::uint64_t to) { gaps_.add(from, to); }

    const Aggregation &pairs() const { return pairs_; }

    /// Calls that are in no pair.
    struct Unpaired {
        std::uint64_t replaced = 0;   ///< another one began with the same value
        std::uint64_t open = 0;       ///< not ended yet
        std::uint64_t ends = 0;       ///< no call has begun with that value
        std::uint64_t unreadable = 0; ///< the value could not be read
        std::uint64_t lost = 0;       ///< it was open when records were lost
        std::uint64_t given_up = 0;   ///< it was open, and too many others were, too
    };
    Unpaired unpaired() const;

    /// Calls that were taken, and those of them whose functions have not recorded what it takes.
    std::uint64_t calls() const { return calls_; }
    std::uint64_t left_out() const { return left_out_; }

    static constexpr std::size_t default_open_max = std::size_t{1} << 18;

private:
    struct Begun {
        std::uint64_t time;
        Key key;
    };

    // Both are false if the function has not recorded what it takes.
    bool begin(const EventView &view);
    bool end(const EventView &view);
    void open(std::uint64_t value, Begun begun);
    std::optional<Begun> close(std::uint64_t value);

    using Open = std::unordered_map<std::uint64_t, Begun>; // by value

    EventKeys begins_, ends_;
    Aggregation pairs_;
    std::uint64_t calls_ = 0, left_out_ = 0;
    LossGaps gaps_;
    std::size_t open_max_;
    Open open_, older_;
    Unpaired unpaired_;
};

} // namespace argtrace
