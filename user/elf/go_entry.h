// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "elf/function_returns.h"
#include "elf/object.h"

namespace argtrace::elf {

/// Where a call of a Go function begins, in bytes from its first instruction. A function first asks whether its stack has room, and begins
/// again when the stack has been moved to a larger place; behind that check it comes once a call, and its arguments are still in the
/// registers that they were passed in, as only R12 has been written, or x16, x17 and x27 of arm64. 0: it
/// does not ask, or not in a way that is known. Of these two.
std::uint32_t go_entry(const Object &object, const CodePiece &function);

} // namespace argtrace::elf
