// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "answer/off_cpu_options.h"

namespace argtrace {

/// Follows switches and wakeups, and shows what tasks waited for.
void run_live_off_cpu(const OffCpuOptions &options);

/// Writes them to a file instead.
void record_off_cpu(const OffCpuOptions &options);

} // namespace argtrace
