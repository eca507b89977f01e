// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <elfutils/libdw.h>

namespace argtrace::dwarf {

/// The languages whose functions take their arguments as the platform's ABI says.
enum class Language {
    other,
    c,
    cplusplus,
    go,   ///< with a calling convention of its own
    rust, ///< as C as far as numbers and pointers go; its own rules hold for structs
};

/// That of a unit.
Language language_of(Dwarf_Die &unit);

/// Whether the compiler says what came with version 5 of DWARF: in units of that version, and gcc in others as well, since some version of its
/// own, unless it is told to be strict.
bool has_attributes_of_version_5(Dwarf_Die &die, unsigned gcc_since);

/// Whether clang or rustc has compiled a unit.
bool is_made_by_llvm(Dwarf_Die &unit);

/// Whether a unit has types at all: one that was compiled with -g1 says of functions only where they are.
bool has_types(Dwarf_Die &unit);

} // namespace argtrace::dwarf
