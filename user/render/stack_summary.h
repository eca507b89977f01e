// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <span>
#include <string>

#include "render/aggregate.h"

namespace argtrace {

/// Calls by their stacks, which are the last part of their keys: each stack with how many calls had it, the most
/// frequent first, then how often each function was on a stack, and what all of that comes to. Or what `style.stacks` says:
/// StackForm::folded is a line for each stack, "dd;entry_SYSCALL_64_after_hwframe;do_syscall_64;ksys_read 12".
void append_stacks(std::string &out, const Aggregation &all, std::span<const KeyColumn> columns,
                   KeyText &keys, const AggregateStyle &style);

/// The function that was called, as it is shown on top of the stack; empty: it is not.
std::string top_of(const Key &key, std::span<const KeyColumn> columns, KeyText &keys);

/// The frames of such a line: the other parts of the key, and the functions.
std::vector<std::string> folded_frames(const Key &key, std::span<const KeyColumn> columns,
                                       KeyText &keys);

} // namespace argtrace
