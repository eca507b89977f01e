// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>

#include "cli/on_load.h"
#include "file/info.h"
#include "session/session.h"
#include "spec/kernel.h"

namespace argtrace {

// What `trace`, `record` and `snapshot` share.

/// Binds to the session of `add`. Throws Error, which names `argtrace COMMAND`, when it has no
/// functions, or is a flight recorder.
void attach_default(Session &session, const char *command);

/// The functions that `trace` and `record` are to trace.
struct Wanted {
    std::vector<Probe> probes;
    std::optional<OnLoad> on_load; ///< or these, when their module is loaded
};

/// Finds them, and says on stderr what has been left out.
Wanted resolve_wanted(Kernel &kernel, const FunctionOptions &options, const Request &request);

/// Has them traced from now on.
void add_wanted(Session &session, Kernel &kernel, Wanted &wanted);

/// Says that the processes which were to be traced are no more.
void print_ended(const std::vector<std::uint32_t> &pids);

/// For each cause for which calls were lost, says what can be done against it. `own`: the session
/// is this command's alone.
void print_remedies(const Session &session, const argtrace_counts &total, bool own);

/// What a file says of where it comes from.
TraceInfo describe_session(const Session &session);

/// The level that --compress was given; nothing when it was not. Throws Error.
std::optional<int> parse_compression(const std::string &text);

} // namespace argtrace
