// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace argtrace {

/// Where separate debug files of user code are looked for, beside /usr/lib/debug.
struct DebugFiles {
    DebugFiles(std::vector<std::string> folders = {}, bool debuginfod = false) : folders(std::move(folders)), debuginfod(debuginfod) {}

    std::vector<std::string> folders;
    bool debuginfod; ///< and on the servers that DEBUGINFOD_URLS names
};

/// How places in user code are given names.
struct CodeNaming {
    DebugFiles debug_files = {};
    bool lines = false; ///< with files and lines, for which more of DWARF is read
};

} // namespace argtrace
