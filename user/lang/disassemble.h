// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/program.h"

namespace argtrace::lang {

/// What a program takes for a call that it does not reject: instructions of the processor, within
/// a third or so of what was measured on x86-64, and loads of memory. Of a choice that depends on
/// the call all ways are counted.
struct ProgramCost {
    std::uint32_t instructions = 0;
    std::uint32_t loads = 0; ///< a text, a buffer and a path count as one

    bool operator==(const ProgramCost &) const = default;
};

/// The cost of the filter, or of the values.
ProgramCost filter_cost(const Program &program);
ProgramCost values_cost(const Program &program);

/// "reads memory 2 times; about 38 instructions", "reads no memory; about 15 instructions".
std::string describe(const ProgramCost &cost);

/// The program as lines of text, one for each instruction, and one for what becomes of the call, unless
/// that is a record.
std::vector<std::string> disassemble(const Program &program);

} // namespace argtrace::lang
