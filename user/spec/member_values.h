// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/parser.h"
#include "lang/scope.h"
#include "spec/meanings.h"

namespace argtrace {

/// What -d shows of a parameter that points or refers to a struct of a program which no table has a line for: values "NAME.MEMBER" of its first members,
/// texts and sizes of what holds such, and the members of structs in it. All are optional, and each can be read. `name`: what the parameter is shown as. Empty of any other
/// parameter.
std::vector<lang::ArgumentExpression> member_values(const lang::Scope &scope, Meanings &meanings, std::uint32_t parameter, const std::string &name);

} // namespace argtrace
