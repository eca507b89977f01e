// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "spec/function_options.h"

namespace argtrace {

/// Adds the functions as the command's arguments, and --regex, --force, --raw, --btf, --if,
/// --cgroup, --describe and --return.
CLI::Option *add_function_options(CLI::App &command, FunctionOptions &options,
                                  const std::string &description);

/// Adds only SPEC, --regex, --force, --raw and --btf; and only --if and --cgroup.
CLI::Option *add_spec_options(CLI::App &command, FunctionOptions &options,
                              const std::string &description);
void add_condition_option(CLI::App &command, FunctionOptions &options);

/// Adds --sample and --max-rate, for commands that trace.
void add_limit_options(CLI::App &command, FunctionOptions &options);

/// Adds --regex alone, for commands that name functions which are traced already.
void add_regex_option(CLI::App &command, bool &regex);

/// Adds --on-load, for commands that take functions before there are any.
void add_on_load_option(CLI::App &command, FunctionOptions &options);

/// How a SPEC is written, for the end of a help text.
extern const char *const spec_help;

} // namespace argtrace
