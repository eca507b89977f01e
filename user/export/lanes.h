// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/event.h"

namespace argtrace {

/// Lays calls on lanes so that on each of them any two are nested, or apart. The calls of one
/// thread need a single lane; where two overlap in another way (a thread's number that another one
/// got while the first was in a call, interrupts whose threads move) there are more.
template<typename Call>
class Lanes {
public:
    struct Open {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        Call call;
    };

    struct Lane {
        std::vector<Open> open; ///< each within the one before it
        // When the latest of those began that have been closed: a call that comes late is not put around one that began at the same
        // moment, whose beginning stands before its own by now.
        std::array<std::uint64_t, 64> closed{};
        std::size_t closed_count = 0;

        bool has_closed(std::uint64_t begin) const {
            const std::size_t count = std::min(closed_count, closed.size());
            return std::find(closed.begin(), closed.begin() + static_cast<std::ptrdiff_t>(count), begin) !=
                   closed.begin() + static_cast<std::ptrdiff_t>(count);
        }
    };

    /// Closes what has ended by `time`, inner calls first: `close(lane number, Open &)`.
    template<typename Close>
    void advance(std::uint64_t time, Close close) {
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            std::vector<Open> &open = lanes_[i].open;
            while (!open.empty() && open.back().end <= time) {
                close(i, open.back());
                lanes_[i].closed[lanes_[i].closed_count++ % lanes_[i].closed.size()] = open.back().begin;
                open.pop_back();
            }
        }
    }

    /// Puts a call where it nests, and returns the number of the lane.
    std::size_t add(std::uint64_t begin, std::uint64_t end, Call call) {
        last_ = std::max(last_, begin);
        for (std::size_t i = 0;; ++i) {
            if (i == lanes_.size())
                lanes_.emplace_back();
            std::vector<Open> &open = lanes_[i].open;
            std::size_t at = open.size(); // a call that comes late may be around others
            while (at > 0 && begin < open[at - 1].begin && open[at - 1].end <= end)
                --at;
            if (at > 0 && (begin < open[at - 1].begin || open[at - 1].end < end))
                continue; // they overlap
            if (begin < last_ && lanes_[i].has_closed(begin))
                continue;
            open.insert(open.begin() + static_cast<std::ptrdiff_t>(at),
                        Open{begin, end, std::move(call)});
            return i;
        }
    }

    /// When a call has ended at the latest that begins now and was left, some time before `end`: as the calls that it is in.
    std::uint64_t clip(std::uint64_t end) const {
        return lanes_.empty() || lanes_[0].open.empty() ? end : std::min(end, lanes_[0].open.back().end);
    }

    /// Closes all that is open.
    template<typename Close>
    void finish(Close close) {
        advance(~std::uint64_t{0}, close);
    }

private:
    std::vector<Lane> lanes_;
    std::uint64_t last_ = 0; // the latest beginning
};

} // namespace argtrace
