// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "cli/live_off_cpu.h"

namespace argtrace {

/// Shows what tasks waited for in a recording of switches and wakeups.
void run_recorded_off_cpu(const OffCpuOptions &options);

} // namespace argtrace
