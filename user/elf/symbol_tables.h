// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include <elf.h>

#include "elf/object.h"
#include "model/code_naming.h"

namespace argtrace::elf {

/// Calls `visit` with each symbol table (SHT_SYMTAB, SHT_DYNSYM) that may have functions of an object, and with the file that has it, whose
/// addresses are `bias` less than those of the object. Of an object that has been stripped these are the separate debug file's, or those
/// of .gnu_debugdata, the table that Fedora leaves in such files, packed by xz.
void visit_symbol_tables(const Object &object, const DebugFiles &debug_files,
                         const std::function<void(const Object &file, std::uint32_t type, std::uint64_t bias)> &visit);

/// Whether it is a function that is in the file, and has a name.
bool is_function(const Elf64_Sym &symbol);

/// A name in a table of them.
std::string_view string_at(const Text &strings, std::size_t offset);

/// "memcpy" of "memcpy@@GLIBC_2.14".
std::string_view without_version(std::string_view name);

} // namespace argtrace::elf
