// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "answer/aggregate_options.h"

namespace argtrace {

/// Adds up, or pairs, the calls of a recording.
void run_recorded_aggregate(const AggregateOptions &options);

} // namespace argtrace
