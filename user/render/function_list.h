// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include "spec/functions.h"

namespace argtrace {

/// Appends the function's prototype on one line, with " [module]" behind it if it is in
/// one. With `verbose` a line for each argument follows: where it lies, its name and type.
void append_function_text(std::string &out, const Function &function, bool verbose);

/// Appends {"func", "module" (if it is in one), "addr", "prototype", "args": [{"name",
/// "type", "location" (with `verbose`)} ...]} on one line.
void append_function_json(std::string &out, const Function &function, bool verbose);

} // namespace argtrace
