// SPDX-License-Identifier: GPL-2.0-only
// What this process may do with the module, and what that means for probes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "uapi/argtrace.h"
#include "uapi/probe.h"

namespace argtrace {

/// Whether the module can take stacks of user code for this process.
bool takes_user_stacks(const argtrace_info &info);

/// Without the authority to read memory, arguments there are not recorded, and shown like others
/// that cannot be: takes them out of the probes. A sentence for the user if there were any.
std::optional<std::string> leave_out_memory(std::vector<Probe> &probes, const argtrace_info &info);

} // namespace argtrace
