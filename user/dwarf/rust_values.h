// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>

#include "dwarf/made_type.h"

namespace argtrace::dwarf {

/// The registers that a value is passed in.
struct RustRegisters {
    unsigned integers = 0, vectors = 0;
};

/// Those of a parameter of Rust, where they are the same in all versions of the compiler and in functions of C's ABI; nothing
/// otherwise. Rust does not say how it passes structs: those that consist of two numbers or pointers are in a register each, which C's ABI
/// has so as well if these are in different words (`mixed`: also if one of them alone is a floating-point number).
std::optional<RustRegisters> rust_registers(const MadeTypes &types, std::uint32_t type, bool mixed);

/// Whether all versions of the compiler pass it by its address, in functions that are not of C's ABI.
bool is_rust_reference(const MadeTypes &types, std::uint32_t type);

/// Whether a result of Rust is known to be in registers or, as it is large, in memory.
bool is_rust_result_known(const MadeTypes &types, std::uint32_t type, bool mixed);

} // namespace argtrace::dwarf
