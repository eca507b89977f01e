// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <vector>

#include "btf/prototype.h"
#include "lang/parser.h"
#include "lang/scope.h"

namespace argtrace {

/// The values, and behind each that the function may change what it is when the function returns. Of an argument that points
/// to a number that is the number, at both moments. What is added is optional. The scope must be one of calls that are
/// recorded when they return.
std::vector<lang::ArgumentExpression>
with_changes(const lang::Scope &scope, const Prototype &prototype,
             const std::vector<lang::ArgumentExpression> &values);

} // namespace argtrace
