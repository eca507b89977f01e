// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>

#include "elf/object.h"
#include "model/code_naming.h"

namespace argtrace::elf {

/// Where the symbols of an object's functions are beside its own tables, where it has been stripped.
struct SymbolSource {
    Object file;
    std::uint64_t bias; ///< addresses in it are so much less than those of the object
};

/// Whether the object has a symbol table of its own, beside that for the dynamic linker.
bool has_symbols(const Object &object);

/// The separate debug file of an object without symbols, or .gnu_debugdata, the table that Fedora leaves in stripped files, packed by xz.
std::optional<SymbolSource> find_symbol_source(const Object &object, const DebugFiles &debug_files);

} // namespace argtrace::elf
