// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "answer/aggregate_options.h"

namespace argtrace {

/// Pairs calls, see answer/pairs.h: both are recorded, and their records are read as they come.
void run_live_pairs(const AggregateOptions &options);

} // namespace argtrace
