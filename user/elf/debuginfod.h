// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include "util/fd.h"

namespace argtrace::elf {

enum class Fetched { debug_file, executable };

/// Asks the servers that DEBUGINFOD_URLS names for a file with that build id, by libdebuginfod, which keeps what it has fetched in its
/// cache. No descriptor if none of them has it. `path` is where it is then. Nothing else in this program goes to the network: of elfutils only
/// libdwfl would, which is not used.
Fd fetch_by_build_id(const std::string &build_id, Fetched what, std::string &path);

/// Throws Error where that cannot be done at all: there is no library, or no server is named.
void check_debuginfod();

} // namespace argtrace::elf
