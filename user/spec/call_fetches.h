// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/prototype.h"
#include "lang/parser.h"
#include "spec/calls.h"

namespace argtrace {

/// What the table of calls has read of that parameter of a system call, or of its result (no parameter), whichever of the rows a call
/// turns out to have: in calls that have another row there is nothing. Of 32-bit
/// calls it is what does not depend on the layout of a struct, or on the size of a pointer. They are named by the parameter: "buf.value", "fd.path".
std::vector<lang::ArgumentExpression> fetched_values(const std::vector<CallRow> &rows, const Prototype &prototype,
                                                     std::optional<std::uint32_t> parameter);

/// What rows have read of one argument, each once, with the names that its values go by: "value", "value.2" of another row. Of a 32-bit
/// call (`is_narrow`) without what depends on a layout. It points into the lists.
std::vector<std::pair<const Fetch *, std::string>> named_fetches(const std::vector<const std::vector<Fetch> *> &lists, bool is_narrow);

} // namespace argtrace
