// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "model/event.h"

namespace argtrace {

/// A call with those that were made in it, by the same task, or goroutine, or in an interrupt of it.
template<typename Payload>
struct TreeCall {
    std::uint64_t begin = 0; ///< ns of CLOCK_MONOTONIC
    std::uint64_t end = 0;
    std::uint64_t clock = 0; ///< when it was recorded, as Event::clock
    Payload payload;
    std::vector<TreeCall> inner = {}; ///< in the order of their beginning
};

/// Which calls were made in which, from their times. They come as they are recorded: when they
/// return, so that those in a call come before it.
template<typename Payload>
class CallTrees {
public:
    using Call = TreeCall<Payload>;

    /// Adds a call of the event's task.
    void add(const Event &event, Payload payload) { add(event, event.task(), std::move(payload)); }

    /// The same of another that does one thing at a time.
    void add(const Event &event, std::uint64_t task, Payload payload) {
        Call call{event.ts, event.end(), event.clock, std::move(payload)};
        std::vector<Call> &before = tasks_[task];
        // All that began since then is in it, as a task does one thing at a time.
        auto first = before.end();
        while (first != before.begin() && std::prev(first)->begin >= call.begin)
            --first;
        call.inner.assign(std::make_move_iterator(first), std::make_move_iterator(before.end()));
        before.erase(first, before.end());
        before.push_back(std::move(call));
        ++calls_;
    }

    /// How many calls there are in all trees.
    std::size_t calls() const { return calls_; }

    /// Hands out the trees that ended before `limit`, in the order of their beginning: a call that
    /// they are in, and that returns later, is not known yet.
    template<typename Take>
    void take_ended(std::uint64_t limit, Take take) {
        take_while([limit](std::uint64_t, const Call &call) { return call.end < limit; },
                   [&](std::uint64_t, Call call) { take(call); });
    }

    /// Hands out those of each task up to the first one for which `wanted` is false, in the order of their beginning. Both are given
    /// Event::task() and the tree.
    template<typename Wanted, typename Take>
    void take_while(Wanted wanted, Take take) {
        std::vector<std::pair<std::uint64_t, Call>> taken;
        for (auto task = tasks_.begin(); task != tasks_.end();) {
            std::vector<Call> &calls = task->second;
            const auto rest = std::find_if(calls.begin(), calls.end(),
                                           [&](const Call &call) { return !wanted(task->first, call); });
            for (auto call = calls.begin(); call != rest; ++call)
                taken.emplace_back(task->first, std::move(*call));
            calls.erase(calls.begin(), rest);
            task = calls.empty() ? tasks_.erase(task) : std::next(task);
        }
        std::stable_sort(taken.begin(), taken.end(),
                         [](const auto &a, const auto &b) { return a.second.begin < b.second.begin; });
        for (auto &[task, call] : taken) {
            calls_ -= count(call);
            take(task, std::move(call));
        }
    }

    /// The trees of a task, in the order of their beginning.
    std::span<const Call> of_task(std::uint64_t task) const {
        const auto found = tasks_.find(task);
        return found == tasks_.end() ? std::span<const Call>() : found->second;
    }

private:
    static std::size_t count(const Call &call) {
        std::size_t calls = 1;
        for (const Call &inner : call.inner)
            calls += count(inner);
        return calls;
    }

    std::map<std::uint64_t, std::vector<Call>> tasks_; // ordered, so that the output repeats
    std::size_t calls_ = 0;
};

} // namespace argtrace
