// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <CLI/CLI.hpp>

#include "session/processes.h"

namespace argtrace {

/// Adds -p, with its own description.
void add_pid_option(CLI::App &command, std::vector<std::uint32_t> &pids, const char *description);

/// Adds -p and --follow, the latter with its own description, and other names where -F means something else.
void add_process_options(CLI::App &command, ProcessOptions &options, const char *follow,
                         const char *follow_names = "-F,--follow");

/// Throws a usage error when --follow is given and there is no process to follow: `runs_command` if
/// a COMMAND can be meant.
void check_follow(const ProcessOptions &options, bool runs_command = false);

} // namespace argtrace
