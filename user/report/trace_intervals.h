// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace argtrace {

/// Parts a recording, which is read in the order of time, into intervals: the first begins with the first event.
class TraceIntervals {
public:
    /// `show` is called when an interval has ended, with the time of its end (ns), and is false when nobody wants more. There are no
    /// more than `most`.
    TraceIntervals(std::uint64_t length, std::optional<std::uint64_t> most, std::function<bool(std::uint64_t end)> show)
        : length_(length), most_(most), show_(std::move(show)) {}

    /// Before the event of that time is looked at. False: it is not to be, and neither is any behind it.
    bool reach(std::uint64_t time);

    /// There are no more events. The last interval is cut short.
    void finish();

    /// Nobody has wanted more.
    bool abandoned() const { return abandoned_; }
    /// There may be events that have not been looked at.
    bool satisfied() const { return abandoned_ || (most_ && ended_ >= *most_); }

private:
    bool end(std::uint64_t time);

    std::uint64_t length_;
    std::optional<std::uint64_t> most_;
    std::function<bool(std::uint64_t end)> show_;
    std::optional<std::uint64_t> next_; // the end of the interval that has begun
    std::uint64_t last_ = 0;            // an event
    std::uint64_t ended_ = 0;           // intervals
    bool abandoned_ = false;
};

} // namespace argtrace
