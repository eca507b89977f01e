// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/event.h"
#include "render/caller.h"
#include "render/line.h"

namespace argtrace {

/// The stack under the line of an event: a line for each function, the innermost first.
void append_stack(Line &out, CallerNames &names, const Value &value);

/// The same as an array of strings; null where it is not known.
void append_json_stack(Line &out, CallerNames &names, const Value &value);

/// In one line, as a caller stands behind its callee.
std::string stack_in_line(CallerNames &names, std::uint64_t id);

/// The functions of a stack, the outermost first, without the places in them: as flame graphs have them. One that is
/// not known is "[unknown]", one that was cut begins with "[cut]".
std::vector<std::string> stack_functions(CallerNames &names, std::uint64_t id);

} // namespace argtrace
