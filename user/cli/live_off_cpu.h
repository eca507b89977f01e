// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include "analyze/wait_totals.h"
#include "cli/aggregate_options.h"
#include "render/waits.h"

namespace argtrace {

/// What `offcpu` is asked for. Its functions are those of the scheduler.
struct OffCpuOptions : TracingOptions, TimeOptions {
    WaitTotals::Wanted wanted;
    WaitStyle style;
    bool json = false;
    std::string output; ///< a file; empty: stdout
};

/// Follows switches and wakeups, and shows what tasks waited for.
void run_live_off_cpu(const OffCpuOptions &options);

} // namespace argtrace
