// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <vector>

#include "analyze/event_keys.h"
#include "answer/aggregate_options.h"

namespace argtrace {

/// What calls are told apart by.
struct Keys {
    std::vector<lang::ArgumentExpression> values;
    bool func_added = false; ///< func is not one of --by
};

/// The words of --by, and what is added to them: func where there are none, func and the stack for stacks. Throws Error.
Keys parse_keys(const AggregateOptions &options);

/// Says of the columns of stacks which of them is the function that was called, as it is shown on top.
void mark_top(std::vector<KeyColumn> &columns, const AggregateOptions &options, const Keys &keys);

/// Keys, or the value of a SPEC, as a recording has them.
std::vector<RecordedValue> recorded_values(const std::vector<lang::ArgumentExpression> &values);

/// Throws Error for SPECs that have a value where there is none to be, or have none.
void check_values(const AggregateOptions &options, const std::vector<Spec> &specs);

/// Whether the value of all SPECs is the duration of a call; `is_argument`: whether a function has an argument of that name, which then
/// is meant.
bool value_is_duration(const std::vector<Spec> &specs, bool is_argument);

} // namespace argtrace
