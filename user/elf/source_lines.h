// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "elf/object.h"
#include "model/code_naming.h"

namespace argtrace::elf {

/// Where the code of a line of source begins, by DWARF's line tables.
struct SourceLine {
    /// Offsets in the file, sorted. A function that was inlined in several places has the line in each of them; where a loop or the optimiser
    /// has cut the line into pieces, the lowest of each function is meant, as gdb means it.
    std::vector<std::uint64_t> offsets;
    bool has_dwarf = false; ///< otherwise nothing is known
    bool has_file = false;  ///< some code comes from the file
    int before = 0, behind = 0; ///< without offsets: the nearest lines of the file that have code; 0: there is none
};

/// `file` is the end of a path: "parse.c", "src/parse.c".
SourceLine find_source_line(const Object &object, const DebugFiles &debug_files, std::string_view file, int line);

} // namespace argtrace::elf
