// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "model/stack_choice.h"
#include "session/options.h"
#include "util/error.h"

namespace argtrace {

/// Adds --buffer, --encoding and --no-caller, which write to `options`.
void add_session_options(CLI::App &command, SessionOptions &options);

/// Adds --flight to a command that makes sessions which are not read while they are recorded.
void add_flight_option(CLI::App &command, SessionOptions &options);

/// Adds --stack[=kernel|user|both], of which `take` is given the choice; --stack alone is the kernel's.
CLI::Option *add_stack_option(CLI::App &command, std::function<void(StackChoice)> take, const std::string &description);

/// Adds --stack-table-size, --objects and --debuginfod.
void add_stack_table_option(CLI::App &command, SessionOptions &options);

/// Adds --objects and --debuginfod.
void add_objects_option(CLI::App &command, CodeNaming &naming);

/// Adds --lines to a command that shows stacks.
void add_lines_option(CLI::App &command, CodeNaming &naming);

/// A number of places that is rounded up to a power of two, from `min` to `max`, which are such. Throws Error.
std::uint32_t parse_room(const std::string &option, const std::string &text, std::uint32_t min, std::uint32_t max);

/// Adds an option whose text `read` takes; the Error that it throws becomes one of usage.
CLI::Option *add_parsed_option(CLI::App &command, const std::string &name,
                               std::function<void(const std::string &)> read,
                               const std::string &description);

} // namespace argtrace
