// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>

#include "file/info.h"
#include "session/session.h"
#include "spec/kernel.h"

namespace argtrace {

// What `trace`, `record` and `snapshot` share.

/// Binds to the session of `add`. Throws Error, which names `argtrace COMMAND`, when it has no
/// functions, or is a flight recorder.
void attach_default(Session &session, const char *command);

/// Null when the kernel hides its symbols: callers are shown as addresses then.
const Kallsyms *symbols_of(Kernel &kernel);

/// For each cause for which calls were lost, says what can be done against it. `own`: the session is
/// this command's alone.
void print_remedies(const Session &session, const argtrace_counts &total, bool own);

/// What a file says of where it comes from.
TraceInfo describe_session(const Session &session);

/// The level that --compress was given; nothing when it was not. Throws Error.
std::optional<int> parse_compression(const std::string &text);

} // namespace argtrace
