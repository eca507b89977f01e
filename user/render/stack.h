// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "render/caller.h"
#include "render/line.h"

namespace argtrace {

/// The stack under the line of an event: a line for each function, the innermost first.
void append_stack(Line &out, CallerNames &names, const Value &value);

/// One of these lines.
void append_frame(Line &out, std::string_view name);

/// The same as an array of strings; null where it is not known. `top`: a function that was called from there; may be empty.
void append_json_stack(Line &out, CallerNames &names, const Value &value, std::string_view top = {});

/// In one line, as a caller stands behind its callee.
std::string stack_in_line(CallerNames &names, const Value &value);

/// The functions of a stack, the outermost first, without the places in them: as flame graphs have them. One that is
/// not known is "[unknown]", one that was cut begins with "[cut]".
std::vector<std::string> stack_functions(CallerNames &names, std::uint64_t id);

/// One of these: the function at a place. Empty: none of the kernel's, but argtrace's own trampoline.
std::string function_at(CallerNames &names, CodePlace place);

/// The name of a function as these have it.
std::string function_frame(std::string name, std::string_view module);

/// Whether one of these is a function of a module: "ext4_read [ext4]", but not "[user]".
bool is_of_module(std::string_view frame);

} // namespace argtrace
