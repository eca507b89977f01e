// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "session/tracing_options.h"

namespace argtrace {

/// Throws a usage error when options are given that the session of `add` has already.
void check_usage(const TracingOptions &options);

/// Adds --include-self.
void add_include_self_option(CLI::App &command, TracingOptions &options);
/// The same for a command that only looks at a session.
void add_include_self_option(CLI::App &command, bool &include_self);

/// The level that --compress was given; nothing when it was not. Throws Error.
std::optional<int> parse_compression(const std::string &text);

} // namespace argtrace
