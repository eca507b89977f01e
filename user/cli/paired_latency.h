// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <vector>

#include "cli/aggregate_options.h"
#include "cli/aggregate_output.h"
#include "cli/recorded_choice.h"
#include "cli/report_output.h"

namespace argtrace {

// `latency --from A --to B --on EXPR`: how long it takes from a call of A to one of B with the same value.
// It is worked out from records of both, which are read as they come.

/// A and B. Throws Error.
std::vector<Spec> pair_specs(const AggregateOptions &options);

/// For the calls of a recording that has been surveyed.
void pair_recorded(const AggregateOptions &options, const std::vector<lang::ArgumentExpression> &keys, TraceReader &reader,
                   const TraceSurvey &survey, RecordedChoice &choice, ReportOutput &report, AggregateOutput &output);

void run_live_pairs(const AggregateOptions &options);

} // namespace argtrace
