// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>

#include "elf/function_returns.h"

namespace argtrace::elf {

/// find_returns() for arm64. Data among its code is what a function loads from behind a jump or its end, and has loaded before. Nothing is
/// known of one that has other data, or that returns by an instruction which the kernel sets no breakpoint at: RETAA and RETAB.
/// `is_padded`: what ends it may be zeros.
FunctionReturns find_arm64_returns(const Object &object, std::span<const CodePiece> pieces, std::uint32_t entry, bool is_padded);

} // namespace argtrace::elf
