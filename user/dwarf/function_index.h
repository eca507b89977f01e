// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <elfutils/libdw.h>

#include "elf/dwarf_file.h"

namespace argtrace::dwarf {

/// The functions of an object by their first instructions.
class FunctionIndex {
public:
    explicit FunctionIndex(elf::DwarfFile file) : file_(std::move(file)) {}

    /// `address` is one of DWARF. Where several functions have one body, that of the symbol counts.
    std::optional<Dwarf_Die> at(std::uint64_t address, std::string_view symbol);

    const elf::DwarfFile &file() const { return file_; }

private:
    enum class Depth { usual, all };
    void index(Dwarf_Die &unit, Depth depth);
    std::optional<Dwarf_Die> known(std::uint64_t address, std::string_view symbol) const;

    elf::DwarfFile file_;
    std::unordered_set<std::uint64_t> indexed_, indexed_whole_; ///< units
    std::unordered_multimap<std::uint64_t, Dwarf_Die> by_entry_;
};

} // namespace argtrace::dwarf
