// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace argtrace {

/// Merges sources of items that are in the order of time, each by its first item: a heap with the
/// oldest in front, and of those of the same time the one of the lowest rank.
///
///     heap.clear(), heap.add(...) for each source that has items, heap.order();
///     while (!heap.empty()): take the first item of *heap.front().source;
///         then heap.advance(time of its next item), or heap.drop() if it has no more.
template<typename Source>
class MergeHeap {
public:
    struct Front {
        std::uint64_t time;
        std::uint32_t rank;
        Source *source;
    };

    bool empty() const { return fronts_.empty(); }
    const Front &front() const { return fronts_.front(); }

    /// That of the oldest item of another source than the front's; the largest number if there is none.
    std::uint64_t second_time() const {
        std::uint64_t time = ~std::uint64_t{0};
        for (std::size_t i = 1; i < std::min<std::size_t>(fronts_.size(), 3); ++i)
            time = std::min(time, fronts_[i].time);
        return time;
    }

    void clear() { fronts_.clear(); }
    void add(std::uint64_t time, std::uint32_t rank, Source &source) {
        fronts_.push_back({time, rank, &source});
    }
    void order() { std::make_heap(fronts_.begin(), fronts_.end(), Later()); }

    /// The front's source goes on with an item of that time.
    void advance(std::uint64_t time) {
        sink({time, fronts_.front().rank, fronts_.front().source});
    }

    /// The front's source has no more.
    void drop() {
        const Front last = fronts_.back();
        fronts_.pop_back();
        if (!fronts_.empty())
            sink(last);
    }

private:
    /// The greatest is in front of a heap: here the oldest.
    struct Later {
        bool operator()(const Front &a, const Front &b) const {
            return a.time != b.time ? a.time > b.time : a.rank > b.rank;
        }
    };

    /// Replaces the front, as std::pop_heap() and std::push_heap() would, with less work: often the
    /// source that has just been in front is so again.
    void sink(const Front item) {
        const std::size_t size = fronts_.size();
        std::size_t hole = 0;
        for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
            if (child + 1 < size && Later()(fronts_[child], fronts_[child + 1]))
                ++child;
            if (!Later()(item, fronts_[child]))
                break;
            fronts_[hole] = fronts_[child];
            hole = child;
        }
        fronts_[hole] = item;
    }

    std::vector<Front> fronts_;
};

} // namespace argtrace
