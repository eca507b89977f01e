// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <span>

#include "lang/parser.h"
#include "lang/program.h"
#include "lang/scope.h"

namespace argtrace::lang {

/// Compiles a condition (null: every call is recorded) and the values to record into a program for
/// the scope's function. Throws ExpressionError for what does not type, and for programs that are
/// larger than the module takes.
///
/// The terms of a condition that is a conjunction (a && b && ...) are evaluated in this order:
/// those that look at registers alone, then those that look at the current task or the stack,
/// then those that follow pointers, each in the order in which they are written. A term that
/// faults rejects the call, as one that is false does, so that no verdict depends on it; only
/// fewer faults are counted. Nothing else is moved: what stands behind || or within a term is
/// evaluated when C would.
Program compile(const Scope &scope, const Expression *condition,
                std::span<const ArgumentExpression> values);

} // namespace argtrace::lang
