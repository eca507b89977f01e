// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "session/session.h"
#include "spec/kernel.h"

namespace argtrace {

// What `trace` and `record` share.

/// Binds to the session of `add`. Throws Error, which names `argtrace COMMAND`, when it has no
/// functions.
void attach_default(Session &session, const char *command);

/// Null when the kernel hides its symbols: callers are shown as addresses then.
const Kallsyms *symbols_of(Kernel &kernel);

/// Says what can be done against full rings. `own`: the session is this command's alone.
void print_remedy(const Session &session, bool own);

} // namespace argtrace
