// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>

#include "elf/function_returns.h"

namespace argtrace::elf {

/// find_returns() for arm64. Nothing is known of a function that has data among its code, or that returns by an instruction which the
/// kernel sets no breakpoint at: RETAA and RETAB. `is_padded`: what ends it may be zeros.
FunctionReturns find_arm64_returns(const Object &object, std::span<const CodePiece> pieces, std::uint32_t entry, bool is_padded);

} // namespace argtrace::elf
