// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "elf/call_frames.h"
#include "elf/object.h"

namespace argtrace::elf {

/// A function's code, by addresses of the object.
struct CodeRange {
    std::uint64_t start, end;
    bool is_called; ///< it is entered by calls, with a return address on top of the stack; what compilers put elsewhere of another function is not
};

/// How functions are unwound that nothing describes, such as those of C in a program that Go's linker has put together, or of assembly: by what
/// their instructions do to the stack. `add` is called with ranges of file offsets and the state in each of them, in no order. Where the stack
/// pointer is no longer known, where ways to an instruction differ, and where a register has been overwritten that the caller needs, there is
/// nothing; nor of what an object has beyond some eight million instructions. It is for code of x86-64: functions of arm64 keep frame records.
void visit_code_rows(const Object &object, const FrameRegisters &registers, std::vector<CodeRange> functions,
                     const std::function<void(std::uint64_t start, std::uint64_t end, const FrameState &state)> &add);

} // namespace argtrace::elf
