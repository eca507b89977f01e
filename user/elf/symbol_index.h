// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "elf/object.h"

namespace argtrace::elf {

/// Functions by their address in the object, as ranges that do not overlap. Names stay where they
/// are, in tables of the file.
class SymbolIndex {
public:
    struct Function {
        std::uint64_t start, size; ///< size 0: not known, up to the next function
        std::uint64_t limit;       ///< the end of its section
        std::uint32_t name;        ///< where it is in its table
        std::uint8_t table;
        std::uint8_t rank;         ///< of functions that begin at one address, the lowest gives the name
        bool is_plt;               ///< an entry of a procedure linkage table, for the function of that name
    };

    /// Adds the functions of the symbol tables (SHT_SYMTAB, SHT_DYNSYM) of a file, whose addresses are
    /// `bias` less than those of the object.
    void add_symbols(const Object &file, std::uint32_t table_type, std::uint64_t bias);

    /// Adds the entries of procedure linkage tables, which have no symbols.
    void add_linkage_tables(const Object &object);

    /// Adds those that a Go program knows itself, which remain when it is stripped.
    void add_go_functions(const Object &object);

    /// To be called when all has been added.
    void finish();

    /// The number of the function that has this address.
    std::optional<std::uint32_t> at(std::uint64_t address) const;

    const Function &function(std::uint32_t number) const { return functions_[number]; }

    /// As it is in the file, but for the version (`memcpy@@GLIBC_2.14`).
    std::string_view name_of(const Function &function) const;

private:
    struct Piece {
        std::uint64_t start;
        std::uint32_t function; ///< nobody: none
    };

    std::optional<std::uint8_t> keep_strings(const Object &file, std::uint32_t section);
    void put(std::uint64_t at, std::uint32_t function);

    std::deque<Text> strings_;
    std::vector<std::pair<const Object *, std::uint32_t>> kept_; ///< where they are from
    std::vector<Function> functions_; ///< by beginning
    std::vector<Piece> pieces_;
};

} // namespace argtrace::elf
