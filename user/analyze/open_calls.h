// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "model/event.h"

namespace argtrace {

/// A call that had not returned when it was looked for.
struct OpenCall {
    const Probe *probe = nullptr;
    std::uint64_t clock = 0; ///< when it began

    explicit OpenCall(const Event &event) : probe(event.probe), clock(event.clock) {}

    /// Whether this is its record. Its duration was rounded to nanoseconds, and no other call of that probe began in the task as
    /// near to it: to follow one takes longer.
    bool is(const Probe *returned, std::uint64_t begin) const {
        constexpr std::uint64_t slack = 16; // units of the clock
        return returned == probe && std::max(begin, clock) - std::min(begin, clock) <= slack;
    }
};

/// Calls that have been shown as still running, by task (Event::task()), the outermost first.
class OpenCalls {
public:
    void open(std::uint64_t task, const OpenCall &call) { tasks_[task].push_back(call); }

    /// Whether it has been shown already. A call is known by its beginning.
    bool has(std::uint64_t task, std::uint64_t clock) const {
        const auto found = tasks_.find(task);
        return found != tasks_.end() &&
               std::any_of(found->second.begin(), found->second.end(), [&](const OpenCall &call) { return call.clock == clock; });
    }

    /// In how many of them a call is that was recorded at `clock`: what a task does while a call runs is done in it.
    std::size_t depth(std::uint64_t task, std::uint64_t clock) const {
        const auto found = tasks_.find(task);
        if (found == tasks_.end())
            return 0;
        return static_cast<std::size_t>(
            std::count_if(found->second.begin(), found->second.end(), [&](const OpenCall &call) { return call.clock < clock; }));
    }

    /// Which of them has returned, with this record; nothing: it is another call.
    std::optional<std::size_t> find(std::uint64_t task, const Probe *probe, std::uint64_t begin) const {
        const auto found = tasks_.find(task);
        if (found == tasks_.end())
            return std::nullopt;
        for (std::size_t depth = found->second.size(); depth-- > 0;)
            if (found->second[depth].is(probe, begin))
                return depth;
        return std::nullopt;
    }

    /// That one has returned, and with it all that it contained.
    void close(std::uint64_t task, std::size_t depth) {
        const auto found = tasks_.find(task);
        found->second.erase(found->second.begin() + static_cast<std::ptrdiff_t>(depth), found->second.end());
        if (found->second.empty())
            tasks_.erase(found);
    }

    /// Forgets those for which `keep`, which is given the task and the call, is false: their records have been lost.
    template<typename Keep>
    void forget_unless(Keep keep) {
        for (auto task = tasks_.begin(); task != tasks_.end();) {
            std::erase_if(task->second, [&](const OpenCall &call) { return !keep(task->first, call); });
            task = task->second.empty() ? tasks_.erase(task) : std::next(task);
        }
    }

private:
    std::map<std::uint64_t, std::vector<OpenCall>> tasks_;
};

} // namespace argtrace
