// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>

#include "dwarf/made_type.h"

namespace argtrace::dwarf {

/// How many registers a parameter of Rust takes, where that is the same in all versions of the compiler and in functions of C's ABI; nothing
/// otherwise. Rust does not say how it passes structs.
std::optional<unsigned> rust_words(const MadeTypes &types, std::uint32_t type);

/// Whether a result of Rust is known to be in registers or, as it is large, in memory.
bool is_rust_result_known(const MadeTypes &types, std::uint32_t type);

} // namespace argtrace::dwarf
