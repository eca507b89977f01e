// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <span>

#include "decode/schema.h"
#include "model/running_calls.h"
#include "uapi/argtrace.h"

namespace argtrace {

/// What the module has found of calls that had not returned: `head` says when, `calls` are those of one task after another, the innermost
/// first. Calls of probes that are not in the schema are passed over.
RunningCalls decode_running(const argtrace_in_flight &head, std::span<const argtrace_in_flight_call> calls, const Schema &schema);

} // namespace argtrace
