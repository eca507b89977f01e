// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string_view>

#include "lang/node.h"
#include "lang/parser.h"
#include "lang/scope.h"

namespace argtrace::lang {

// Typing follows C, with these exceptions:
//
//   - __be16, __be32 and __be64: a value of such a type is converted to the machine's order when
//     it is read, and so compared with plain numbers; *(u16 *)&x is what it is in memory.
//   - A literal on one side of == or != compares texts, as ~ and !~ do.
//   - void has the size 1 in the arithmetic of pointers, as gcc has it.
//   - A bit-field of more than 32 bits is a long in arithmetic; gcc computes in its width.
//   - BTF has arrays of arrays as one array of all their elements, and so has this: m[1][2] of
//     int m[2][3] is m[5].
//   - Numbers of 128 bits and floating-point numbers have no operators.
//
// What does not type throws ExpressionError.

/// The expression as a condition: an integer, or a pointer that may be NULL.
NodePtr check_condition(const Scope &scope, const Expression &expression);

/// The type of an expression, before it is converted to a value. Nothing where it has none.
std::optional<Type> type_of(const Scope &scope, const Expression &expression, std::string_view subject = {});

/// The expression as something to record: a number or a pointer, or a node of kind `object`,
/// `text`, `buffer` or `path`. `subject` is the parameter that the name `it` stands for; empty: it is
/// a name like any other.
NodePtr check_value(const Scope &scope, const Expression &expression,
                    std::string_view subject = {});

} // namespace argtrace::lang
