// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <elfutils/libdw.h>

namespace argtrace::dwarf {

/// How values of a class are passed and returned (Itanium C++ ABI, 3.1.2.3).
enum class ClassPassing {
    by_value,
    by_reference, ///< by their address, since copying or destroying one calls a function
    unsure,       ///< it declares such a function, which may be a trivial one
};

/// clang says so; else what the class declares tells it, as far as it does.
ClassPassing passing_of(Dwarf_Die &type);

} // namespace argtrace::dwarf
