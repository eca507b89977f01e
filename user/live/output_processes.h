// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <set>

#include "session/session.h"
#include "session/tracing_options.h"

namespace argtrace {

// The processes that our output goes through: calls of theirs that are shown cause more of them.

/// Has the module leave out their calls, of a session that has no functions yet, and says on stderr which they are.
void leave_out_output_processes(Session &session);

/// The processes whose events `trace` shall not show, though the session of `add` records them:
/// those that our output goes through, which would feed on it. Says on stderr which they are.
std::set<std::uint32_t> choose_hidden(const Session &session, const TracingOptions &options);

} // namespace argtrace
