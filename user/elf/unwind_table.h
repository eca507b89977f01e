// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <vector>

#include "elf/object.h"
#include "model/code_naming.h"
#include "uapi/argtrace_user.h"

namespace argtrace::elf {

/// What ARGTRACE_IOC_UNWIND takes.
struct UnwindTable {
    std::vector<argtrace_unwind_row> rows; ///< empty: nothing in the file says how to unwind it
    std::vector<argtrace_unwind_rule> rules;
};

/// How to unwind the code of an object: from .eh_frame, and from .debug_frame where .eh_frame says
/// nothing. An object that has neither may have a separate debug file, see find_debug_file().
/// Offsets are those in the file. Functions that have symbols, but that
/// nothing describes, are unwound by what their code does, see code_rows.h. Code that cannot be unwound by such rules has the rule
/// ARGTRACE_UNWIND_NONE, as does what lies between functions.
UnwindTable unwind_table(const Object &object, const DebugFiles &debug_files = {});

/// How the code at an offset is unwound; null: nothing says so.
const argtrace_unwind_rule *rule_at(const UnwindTable &table, std::uint64_t offset);

} // namespace argtrace::elf
