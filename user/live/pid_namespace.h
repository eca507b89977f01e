// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spec/functions.h"

namespace argtrace {

/// The PIDs that these processes of our PID namespace have in events: those of the initial one. Throws Error if one is no process.
std::vector<std::uint32_t> pids_in_events(std::span<const std::uint32_t> pids);

/// That of this process.
std::uint32_t own_pid_in_events();

/// In a PID namespace that is not the initial one, says that events and conditions have other PIDs than it has, and which ones these
/// processes have there, and those that the conditions of the request name.
void tell_pid_namespace(std::span<const std::uint32_t> pids, const Request &request);

} // namespace argtrace
