// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace argtrace {

// What is wrong with a command line, and what to type instead: sentences without the name of
// the program. The words are those behind `argtrace`, in order.

/// The first word is meant as a command, but there is no such command.
bool is_unknown_command(const CLI::App &app, const std::vector<std::string> &words);

std::string explain_unknown_command(const CLI::App &app, const std::vector<std::string> &words);

/// What CLI11 found wrong with `words`, one sentence a line. `all` has every command, which `app`, that has parsed them, may not.
std::string explain_usage(const CLI::App &app, const CLI::App &all, const CLI::ParseError &error,
                          const std::vector<std::string> &words);

} // namespace argtrace
