// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/event_keys.h"
#include "cli/profile_timer.h"
#include "cli/tracing.h"
#include "render/aggregate.h"
#include "render/top.h"
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
    bool stacks = false;                    ///< keys end with the stack
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

/// Adds SPEC and all options but those of one command.
void add_aggregate_options(CLI::App &command, AggregateOptions &options);

/// Adds only --interval, --count and --duration; and only --top.
void add_time_options(CLI::App &command, TimeOptions &options);
void add_top_option(CLI::App &command, std::optional<std::size_t> &top);

/// Adds only --map-size and --stack-table-size; and only the former.
void add_room_option(CLI::App &command, AggregateOptions &options);
void add_map_size_option(CLI::App &command, AggregateOptions &options);

/// Adds --linear.
void add_linear_option(CLI::App &command, AggregateOptions &options);

/// What calls are told apart by.
struct Keys {
    std::vector<lang::ArgumentExpression> values;
    bool func_added = false; ///< func is not one of --by
};

/// The words of --by, and what is added to them: func where there are none, func and the stack for stacks. Throws Error.
Keys parse_keys(const AggregateOptions &options);

/// Says of the columns of stacks which of them is the function that was called, as it is shown on top.
void mark_top(std::vector<KeyColumn> &columns, const AggregateOptions &options, const Keys &keys);

/// The same, and the value of a SPEC, as a recording has them.
std::vector<RecordedValue> recorded_values(const std::vector<lang::ArgumentExpression> &values);

/// Throws a usage error for options that do not go together, and Error for SPECs that have a value where
/// there is none to be, or have none.
void check_aggregate(const AggregateOptions &options);
void check_values(const AggregateOptions &options, const std::vector<Spec> &specs);

/// Whether the value of all SPECs is the duration of a call; `is_argument`: whether a function has an argument of that name, which then
/// is meant.
bool value_is_duration(const std::vector<Spec> &specs, bool is_argument);

/// Adds up, and shows what it comes to.
void run_aggregate(const AggregateOptions &options);

/// How the commands are used, for the end of a help text.
extern const char *const aggregate_help;

} // namespace argtrace
