// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <span>
#include <string>

#include "render/aggregate.h"

namespace argtrace {

/// Calls by their stacks, which are the last part of their keys: each stack with how many calls had it, the most
/// frequent first, then how often each function was on a stack, and what all of that comes to. Or what `style.stacks` says:
/// StackForm::folded is a line for each stack, with user code before the kernel, "dd;main;read;entry_SYSCALL_64_after_hwframe;do_syscall_64;ksys_read 12".
void append_stacks(std::string &out, const Aggregation &all, std::span<const KeyColumn> columns,
                   KeyText &keys, const AggregateStyle &style, const DrainText &drain = keep_text);

/// "12 calls were lost, 3 calls have no stack": what a flame graph is to say of it; may be empty.
struct MissingStacks {
    std::uint64_t lost = 0;
    std::uint64_t without_stack = 0; ///< they are in it, but not on the functions that called them
    std::uint64_t left_out = 0;      ///< a recording does not have what was asked of them
};
std::string describe(const MissingStacks &missing, std::string_view noun);

/// The stacks with which a key ends.
StackValues stacks_of(const Key &key, StackChoice which);

/// The columns of what precedes them.
std::span<const KeyColumn> columns_beside(std::span<const KeyColumn> columns, StackChoice which);

/// The function that was called, as it is shown on top of the stack; empty: it is not.
std::string top_of(const Key &key, std::span<const KeyColumn> columns, KeyText &keys);

/// Appends the frames of such a line: the other parts of the key, and the functions.
void add_folded_frames(std::vector<StackFrame> &frames, const Key &key, std::span<const KeyColumn> columns, KeyText &keys, StackChoice which);

/// "dd;main;read"
void append_folded_frames(std::string &out, std::span<const StackFrame> frames, const CallerNames &names);

} // namespace argtrace
