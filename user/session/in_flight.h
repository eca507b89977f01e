// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <vector>

#include "decode/schema.h"
#include "model/in_flight.h"
#include "model/running_calls.h"
#include "session/session.h"

namespace argtrace {

/// What the module has found of the session's calls that have not returned: see ARGTRACE_IOC_IN_FLIGHT.
struct InFlightList {
    argtrace_in_flight head{};
    std::vector<argtrace_in_flight_call> calls;
};

/// Nothing if the loaded module does not tell.
std::optional<InFlightList> list_in_flight(const Session &session);

/// Whether any call of the session has not returned: finding out which takes longer.
bool has_calls_in_flight(const Session &session);

/// The calls of the session that have not returned, but for those of probes that are not in the schema. Nothing if the loaded module
/// does not tell.
std::optional<RunningCalls> read_in_flight(const Session &session, const Schema &schema);

/// The functions of which calls have not returned, and the tasks of those calls that the module finds.
std::vector<InFlightFunction> functions_in_flight(const Session &session);

} // namespace argtrace
