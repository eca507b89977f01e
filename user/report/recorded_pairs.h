// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <vector>

#include "answer/aggregate_options.h"
#include "answer/aggregate_output.h"
#include "report/output.h"
#include "report/recorded_choice.h"

namespace argtrace {

/// Pairs the calls of a recording that has been surveyed, see answer/pairs.h.
void pair_recorded(const AggregateOptions &options, const std::vector<lang::ArgumentExpression> &keys, TraceReader &reader,
                   const TraceSurvey &survey, RecordedChoice &choice, ReportOutput &report, AggregateOutput &output);

} // namespace argtrace
