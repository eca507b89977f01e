// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

#include "lang/type.h"
#include "model/probe_kind.h"

namespace argtrace::lang {

/// The table that comes with the tool, see spaces.table.
extern const std::string_view shipped_spaces;

/// Where a pointer leads that is passed to a function; `unsaid` where the table does not have it.
Space space_of_parameter(const ProbeKind &kind, std::string_view function, std::string_view parameter);

/// The same of a member of a struct or union, which is written as in "struct iovec".
Space space_of_member(std::string_view aggregate, std::string_view member);

/// The name of a type of pointers with the mark of user memory (model/type_name.h); any other type as it is.
std::string with_user_mark(std::string type);

} // namespace argtrace::lang
