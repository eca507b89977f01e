// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "answer/aggregate_options.h"

namespace argtrace {

/// Adds the ticks of a recording up.
void run_recorded_profile(const AggregateOptions &options);

} // namespace argtrace
