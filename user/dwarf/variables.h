// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <elfutils/libdw.h>

#include "btf/prototype.h"

namespace argtrace::dwarf {

/// An instruction with which a line of source begins.
struct LineAddress {
    Dwarf_Addr address = 0;        ///< as DWARF has it
    std::string_view file = {};    ///< the end of the path of its source
    int line = 0;
    unsigned frame_register = 0;   ///< by DWARF's number: the canonical frame address is at an offset from what it has there
    std::optional<std::int64_t> frame_offset = {}; ///< nothing: that is not known
};

/// What a name means there.
struct Variable {
    Dwarf_Die declared; ///< which has its name and type
    VariablePlace place;
};

/// The parameters and local variables of the innermost function that has the instruction, inlined or not, as the source has them. Of several
/// with one name the innermost counts; what is declared in that line or behind it is not there yet. Parameters come first.
std::vector<Variable> variables_at(Dwarf_Die &unit, const LineAddress &at);

} // namespace argtrace::dwarf
