// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>

#include "file/info.h"
#include "live/on_load.h"
#include "live/unloaded_modules.h"
#include "session/in_flight.h"
#include "session/session.h"
#include "session/tracing_options.h"
#include "spec/kernel.h"

namespace argtrace {

/// The functions that `trace` and `record` are to trace.
struct Wanted {
    std::vector<Probe> probes;
    std::optional<OnLoad> on_load; ///< or these, when their module is loaded
};

/// Finds them, and says on stderr what has been left out.
Wanted resolve_wanted(Kernel &kernel, const FunctionOptions &options, const Request &request);

/// Adds the probes; those whose returns the module cannot follow are taken out, and named on stderr.
/// Throws Error when it takes none, or refuses another one.
void add_followed(Session &session, Kernel &kernel, std::vector<Probe> &probes);

/// Has them traced from now on.
void add_wanted(Session &session, Kernel &kernel, Wanted &wanted);

/// "2 functions", "3 functions of dummy when it is loaded": what is traced from now on.
std::string describe_traced(const Session &session, const Wanted &wanted);

/// Explains missing events: functions that were named and never called, and those whose module had
/// been unloaded.
void note_silence(const Session &session, const TracingOptions &options,
                  const UnloadedModules &modules);

/// For each cause of lost calls, says how to avoid it; and why calls have no stack. `own`: the session belongs to this command
/// alone.
void print_remedies(const Session &session, const argtrace_counts &total, bool own);

/// Says how to make room for more stacks, where some had none. print_remedies() does.
void print_stack_remedy(const Session &session, bool own);

/// The calls of the session that have not returned, for a file; not those of this process, which is about to go.
InFlightList list_calls_in_flight(const Session &session);

/// The description of the session that goes into a file's header.
TraceInfo describe_session(const Session &session);

} // namespace argtrace
