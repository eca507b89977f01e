// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/event.h"

namespace argtrace {

/// How long calls took without those that were made in them. Calls come as they return, so that
/// those in a call come before it.
class SelfTimes {
public:
    /// The self time of the event, in ns.
    std::uint64_t add(const Event &event) {
        std::vector<Span> &before = tasks_[event.task()];
        std::uint64_t inner = 0;
        while (!before.empty() && before.back().begin >= event.ts) {
            inner += before.back().duration;
            before.pop_back();
        }
        before.push_back({event.ts, event.duration});
        if (before.size() >= spans_max)
            halve(before);
        return inner < event.duration ? event.duration - inner : 0;
    }

private:
    struct Span {
        std::uint64_t begin;
        std::uint64_t duration;
    };

    // The spans kept for a task that makes many calls which no other call contains.
    static constexpr std::size_t spans_max = 4096;

    /// Joins neighbours. Of a call that begins between two, one is counted wrongly.
    static void halve(std::vector<Span> &spans) {
        for (std::size_t i = 0; i < spans.size() / 2; ++i)
            spans[i] = {spans[2 * i].begin, spans[2 * i].duration + spans[2 * i + 1].duration};
        if (spans.size() % 2)
            spans[spans.size() / 2] = spans.back();
        spans.resize((spans.size() + 1) / 2);
    }

    std::unordered_map<std::uint64_t, std::vector<Span>> tasks_;
};

} // namespace argtrace
