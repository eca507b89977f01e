// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <optional>

#include "answer/aggregate_options.h"

namespace argtrace {

/// Adds SPEC and all options but those of one command.
void add_aggregate_options(CLI::App &command, AggregateOptions &options);

/// Adds only --interval, --count and --duration; and only --top.
void add_time_options(CLI::App &command, TimeOptions &options);
void add_top_option(CLI::App &command, std::optional<std::size_t> &top);

/// Adds only --map-size, --stack-table-size and --objects; and only the former.
void add_room_option(CLI::App &command, AggregateOptions &options);
void add_map_size_option(CLI::App &command, AggregateOptions &options);

/// Adds --stack[=...], of commands that count stacks, which takes both if it is not given.
void add_counted_stack_option(CLI::App &command, AggregateOptions &options);

/// What is made of stacks, by the options and by the name that -o says.
void choose_stack_form(AggregateOptions &options);

/// Adds --linear.
void add_linear_option(CLI::App &command, AggregateOptions &options);

/// Adds up, and shows what it comes to.
void run_aggregate(const AggregateOptions &options);

/// How the commands are used, for the end of a help text.
extern const char *const aggregate_help;

} // namespace argtrace
