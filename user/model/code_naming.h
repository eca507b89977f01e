// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <vector>

namespace argtrace {

/// How places in user code are given names.
struct CodeNaming {
    std::vector<std::string> debug_folders = {}; ///< where debug files are looked for, beside /usr/lib/debug
    bool lines = false;                          ///< with files and lines, for which more of DWARF is read
};

} // namespace argtrace
