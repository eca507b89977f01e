// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

namespace argtrace {

/// What to write instead of "kprobe:vfs_read" and other ways in which bpftrace, perf and ftrace
/// name what they trace: a sentence about `prefix`, which was written before ':' as if it were a
/// module. `rest` follows the colon. Empty when no tool is known to mean anything by that prefix.
std::string explain_foreign_prefix(std::string_view prefix, std::string_view rest);

/// The same of "p:/bin/bash:readline", where `rest` begins with the path of a file.
std::string explain_foreign_object(std::string_view prefix, std::string_view rest);

} // namespace argtrace
