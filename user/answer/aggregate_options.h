// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyze/buckets.h"
#include "model/timer.h"
#include "render/aggregate.h"
#include "render/top.h"
#include "session/tracing_options.h"
#include "spec/aggregate.h"

namespace argtrace {

/// How long an answer is worked out, and how often it is shown.
struct TimeOptions {
    std::optional<std::uint64_t> interval; ///< ns
    std::optional<std::uint64_t> rounds;   ///< intervals
    std::optional<std::uint64_t> duration; ///< ns
};

/// What the commands that add calls up (count, hist, sum, min, max, avg, latency) are asked for.
struct AggregateOptions : TracingOptions, TimeOptions {
    Aggregate::Value value = Aggregate::Value::none;
    AggregateStyle style;
    Buckets buckets;
    std::string by;                         ///< the text of --by; empty: func
    bool json = false;
    bool ascii = false;
    bool stacks = false;                    ///< keys end with the stacks that `style` says
    std::optional<StackChoice> stack_choice = {}; ///< of --stack; nothing: all that there are
    std::string output = {};                ///< a file; empty: stdout
    std::uint32_t map_size = default_slots; ///< slots of each CPU
    std::string input;                      ///< a recording; empty: the running kernel
    unsigned jobs = 0;
    std::string from, to, on; ///< SPECs and an expression, of `latency`

    /// The busiest functions are shown, as `top` shows them; else nothing.
    std::optional<TopStyle> top = {};

    /// It is not calls that are added up, but ticks.
    std::optional<TimerChoice> timer = {};

    bool pairs() const { return !from.empty(); }

    static constexpr std::uint32_t default_slots = 8192;
};

} // namespace argtrace
