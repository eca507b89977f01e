// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>

#include "spec/functions.h"

namespace argtrace {

/// Appends the function's prototype on one line, with " [module]" behind it if it is in
/// one. With `verbose` a line for each argument follows ("count: u64 in rdx, 8 bytes": what is
/// captured of it, from where, and the room that takes in a record), and one for the record.
/// " (in use by 2 tracers)" marks a function that has `users` (EnabledFunctions).
void append_function_text(std::string &out, const Function &function, bool verbose, std::uint32_t users = 0);

/// Appends {"func", "module" (if it is in one), "addr" (if it has one), "prototype", "args": [{"name",
/// "type"} ...]} on one line. With `verbose` an argument has "location" (null: it is not
/// captured) and "bytes", too, and the function "record_bytes". If it has users, "tracers" is how
/// many.
void append_function_json(std::string &out, const Function &function, bool verbose, std::uint32_t users = 0);

} // namespace argtrace
