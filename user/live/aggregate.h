// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "answer/aggregate_options.h"

namespace argtrace {

/// Adds calls up while they are made, in the module.
void run_live_aggregate(const AggregateOptions &options);

} // namespace argtrace
