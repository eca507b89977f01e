// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "cli/aggregate_options.h"

namespace argtrace {

/// Writes the ticks of a timer to a file, for run_recorded_profile().
void record_profile(const AggregateOptions &options);

/// Adds the ticks of a recording up.
void run_recorded_profile(const AggregateOptions &options);

} // namespace argtrace
