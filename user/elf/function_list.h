// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elf/object.h"
#include "model/code_naming.h"

namespace argtrace::elf {

/// A function of an object under one of its names.
struct NamedFunction {
    std::string symbol;   ///< as the symbol table has it, but for the version
    std::string name;     ///< demangled, with its parameters where the language is C++; else as `symbol`
    std::uint64_t address; ///< in the object
    std::uint64_t offset;  ///< in its file
    std::uint64_t size;    ///< in bytes; 0: not known
    bool is_resolver;      ///< STT_GNU_IFUNC: what is there chooses the function when the object is loaded
    bool is_local;        ///< STB_LOCAL: no other object, and no other source file, knows it by the name
};

/// All functions of an object, by address, the most usual of several names first: from its symbol tables (elf/symbol_tables.h), and what a
/// Go program knows itself. A function is there once for each of its names.
std::vector<NamedFunction> list_functions(const Object &object, const DebugFiles &debug_files = {});

/// The name of a function of C++ or Rust without result, parameters and `[abi:...]`, as people type it: "ns::Class::method" of
/// "int ns::Class::method[abi:cxx11](char const*) const". Names of other languages are as they are.
std::string_view plain_name(std::string_view demangled, std::string &room);

/// How many parameters a function of C++ has by its demangled name, "..." included; nothing if the name has none.
std::optional<std::size_t> parameter_count(std::string_view demangled);

} // namespace argtrace::elf
