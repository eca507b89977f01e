// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/program.h"

namespace argtrace::lang {

/// What a program takes for a call that it does not reject: instructions of the processor, within
/// a third or so of what was measured on x86-64, and loads of memory. Of a choice that depends on
/// the call all ways are counted. Text and paths take from what those of 8 characters, or of depth 1,
/// do to what those of 31 characters, or of depth 8, do.
struct ProgramCost {
    std::uint32_t instructions = 0;
    std::uint32_t instructions_max = 0;
    std::uint32_t loads = 0; ///< a text, a buffer and a path count as one

    bool operator==(const ProgramCost &) const = default;
};

/// The cost of the filter, or of the values.
ProgramCost filter_cost(const Program &program);
ProgramCost values_cost(const Program &program);

/// "reads memory 2 times; about 38 instructions", "reads no memory; about 15 instructions",
/// "reads memory 4 times; about 64 to 100 instructions".
std::string describe(const ProgramCost &cost);

/// The program as lines of text, one for each instruction, and one for what becomes of the call, unless
/// that is a record.
std::vector<std::string> disassemble(const Program &program);

} // namespace argtrace::lang
