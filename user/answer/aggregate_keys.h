// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyze/event_keys.h"
#include "answer/aggregate_options.h"

namespace argtrace {

/// What calls are told apart by.
struct Keys {
    std::vector<lang::ArgumentExpression> values;
    bool func_added = false; ///< func is not one of --by
    /// Where it is then, in front of stacks.
    std::optional<std::size_t> func_of_stacks = {};
};

/// The words of --by, and what is added to them: func where there are none, func and the stacks of `options.style` for stacks. Throws
/// Error.
Keys parse_keys(const AggregateOptions &options);

/// The stacks with which the keys end. Where ticks are counted the kernel's is there to tell idle CPUs, even if it is not shown.
StackChoice key_stacks(const AggregateOptions &options);

/// The columns that are shown of these keys.
void hide_stacks(std::vector<KeyColumn> &columns, const AggregateOptions &options);

/// Says of the columns of stacks which of them is the function that was called, as it is shown on top.
void mark_top(std::vector<KeyColumn> &columns, const AggregateOptions &options, const Keys &keys);

/// Keys, or the value of a SPEC, as a recording has them. Where no stack was asked for by its name, one that was not recorded may be
/// left out, if another was.
std::vector<RecordedValue> recorded_values(const std::vector<lang::ArgumentExpression> &values);
std::vector<RecordedValue> recorded_keys(const AggregateOptions &options, const Keys &keys);

/// Throws Error for SPECs that have a value where there is none to be, or have none.
void check_values(const AggregateOptions &options, const std::vector<Spec> &specs);

/// Whether the value of all SPECs is the duration of a call; `is_argument`: whether a function has an argument of that name, which then
/// is meant.
bool value_is_duration(const std::vector<Spec> &specs, bool is_argument);

} // namespace argtrace
