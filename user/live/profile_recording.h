// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "answer/aggregate_options.h"

namespace argtrace {

/// Writes the ticks of a timer to a file, for `profile --in`.
void record_profile(const AggregateOptions &options);

} // namespace argtrace
