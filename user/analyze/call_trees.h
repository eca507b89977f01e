// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <unordered_map>
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
    bool left = false;                ///< Event::left
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
        Call call{event.ts, event.end(), event.clock, std::move(payload), {}, event.left};
        std::vector<Call> &trees = tasks_[task];
        std::vector<Call> &before = event.left ? clip(trees, call) : end_later(trees, call);
        // All that began since then is in it, as a task does one thing at a time.
        auto first = before.end();
        while (first != before.begin() && std::prev(first)->begin >= call.begin)
            --first;
        ++calls_;
        if (event.left && &before == &trees && was_handed_out(task, call.begin)) {
            before.insert(first, std::move(call));
            return;
        }
        call.inner.assign(std::make_move_iterator(first), std::make_move_iterator(before.end()));
        before.erase(first, before.end());
        before.push_back(std::move(call));
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
            for (auto call = calls.begin(); call != rest; ++call) {
                note_handed_out(task->first, call->end);
                taken.emplace_back(task->first, std::move(*call));
            }
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
    /// Where a call belongs that was left, and when that is known need not be when it was: the calls that had begun before and ended
    /// since have ended it, too.
    static std::vector<Call> &clip(std::vector<Call> &trees, Call &left) {
        std::vector<Call> *level = &trees;
        for (;;) {
            const auto next = std::find_if(level->rbegin(), level->rend(), [&](const Call &call) { return call.begin < left.begin; });
            if (next == level->rend() || next->end <= left.begin)
                return *level;
            left.end = std::min(left.end, next->end);
            level = &next->inner;
        }
    }

    /// Where another call belongs: in those that were left by it, as execve() leaves all that it was called in, and had no end before
    /// its own.
    static std::vector<Call> &end_later(std::vector<Call> &trees, const Call &call) {
        std::vector<Call> *level = &trees;
        while (!level->empty() && level->back().left && level->back().begin < call.begin && call.begin < level->back().end) {
            level->back().end = std::max(level->back().end, call.end);
            level = &level->back().inner;
        }
        return *level;
    }

    /// Trees of that task which ended later have been handed out, so that nothing that remains can be told to be in a call that began
    /// then.
    bool was_handed_out(std::uint64_t task, std::uint64_t begin) const {
        const auto found = handed_out_.find(task);
        return found != handed_out_.end() && begin < found->second;
    }

    void note_handed_out(std::uint64_t task, std::uint64_t end) {
        if (handed_out_.size() >= handed_out_max)
            handed_out_.clear();
        std::uint64_t &latest = handed_out_[task];
        latest = std::max(latest, end);
    }

    static std::size_t count(const Call &call) {
        std::size_t calls = 1;
        for (const Call &inner : call.inner)
            calls += count(inner);
        return calls;
    }

    std::map<std::uint64_t, std::vector<Call>> tasks_; // ordered, so that the output repeats
    static constexpr std::size_t handed_out_max = 1 << 16;
    std::unordered_map<std::uint64_t, std::uint64_t> handed_out_; // when the last of a task's trees ended
    std::size_t calls_ = 0;
};

} // namespace argtrace
