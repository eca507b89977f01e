// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string_view>

#include "lang/node.h"
#include "lang/parser.h"

namespace argtrace::lang {

// When expressions are evaluated of a call that is recorded when it returns: at its entry, but for
// those that have `ret`, `duration`, or a part with `@ret`, which are evaluated when it returns.

/// What follows an expression that is to be evaluated when the function returns.
constexpr std::string_view return_suffix = "@ret";

/// Whether it is evaluated when the function returns.
bool is_of_return(const Node &node);

/// Whether it can be another when the function returns: it has more than arguments and constants.
bool may_change(const Node &node);

/// Whether a part of it is gone when the function returns: a register for floating-point numbers, what a user function was passed on the stack.
bool is_of_entry_alone(const Node &node);

/// Whether it has a part that must be read when the function is entered, as it may change it. What
/// is the task's counts as what stays, where it is a key.
bool is_of_entry(const Node &node);

/// Has all of it evaluated when the function returns.
void move_to_return(Node &node);

/// Throws ExpressionError if the expression is of the return, and has parts that read what may have
/// changed since the entry: which of both moments they mean is to be written.
void refuse_two_moments(const Expression &expression, const Node &node);

} // namespace argtrace::lang
