// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "elf/object.h"

namespace argtrace::elf {

/// By which instructions a function returns to its caller, relative to where its calls begin.
struct FunctionReturns {
    /// Where they are, in bytes. Empty: that is not known for sure, or the function may end in a
    /// jump to another.
    std::vector<std::int32_t> places = {};
    bool never = false; ///< by none: it throws, ends the program, or goes on for ever
    bool loops = false; ///< it jumps to where its calls begin

    /// Otherwise the kernel's uretprobe alone can follow its calls.
    bool known() const { return never || !places.empty(); }
};

/// A piece of code of the object.
struct CodePiece {
    std::uint64_t address, size;
};

/// Decodes a function. Its first piece begins with its first instruction, and the others are what the compiler has put elsewhere
/// ("NAME.cold"). Its calls begin `entry` bytes from there. `has_data`: a short jump may lead over bytes that are no code. Where something is not understood, nothing is known: a breakpoint must not be in the middle of an instruction. Of
/// x86-64, and of arm64.
FunctionReturns find_returns(const Object &object, std::span<const CodePiece> pieces, std::uint32_t entry = 0, bool has_data = true);

} // namespace argtrace::elf
