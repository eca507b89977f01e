// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "answer/off_cpu_options.h"

namespace argtrace {

/// Shows what tasks waited for in a recording of switches and wakeups.
void run_recorded_off_cpu(const OffCpuOptions &options);

} // namespace argtrace
