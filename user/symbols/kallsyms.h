// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbols/symbols.h"
#include "util/name_index.h"

namespace argtrace {

/// How many bytes the name of a symbol may have, with a NUL (KSYM_NAME_LEN in include/linux/kallsyms.h).
inline constexpr std::size_t symbol_name_max = 512;

/// A symbol as the kernel lists it.
struct ListedSymbol {
    std::uint64_t addr = 0;
    char type = '?';         ///< as nm has it
    std::string_view name;
    std::string_view module; ///< empty for the kernel itself
};

/// Whether it is a symbol of arm64 for where code and data begin, "$x", "$d.7", which no function is called.
bool is_mapping_symbol(std::string_view name);

/// The kernel's function symbols, and the variables that expressions need, read once.
class Kallsyms {
public:
    class Builder;

    /// Whether symbols of that type are taken for functions.
    static constexpr bool is_function_type(char type) {
        return type == 't' || type == 'T' || type == 'w' || type == 'W';
    }

    /// Reads /proc/kallsyms (or a file of that form). Throws Error when it cannot be
    /// read, or when addresses are hidden from this user (all zero).
    static Kallsyms load(const std::string &path = "/proc/kallsyms");

    /// Parses text of that form; text symbols (t, T, w, W) only.
    static Kallsyms parse(std::string_view text);

    /// All symbols of exactly that name, by address.
    std::vector<Symbol> named(std::string_view name) const;

    /// What the compiler made of that function: name.isra.0, name.constprop.0, name.part.0,
    /// name.cold ... By name, then address.
    std::vector<Symbol> clones(std::string_view name) const;

    /// Where a variable is, of those that expressions need: vmemmap_base, from which struct pages are counted, and
    /// __per_cpu_offset. Nothing if the kernel has no such variable or does not list it.
    std::optional<std::uint64_t> variable(std::string_view name) const;

    /// All functions, by address; where several share one, in the kernel's order.
    const std::vector<Symbol> &all() const { return symbols_; }

private:
    /// More than most kernels have. What is reserved and not used takes no memory.
    static constexpr std::size_t usual_functions = 1 << 17;

    Kallsyms() = default;

    std::string_view keep(std::string_view name) {
        if (name.size() > room_) [[unlikely]]
            add_block(name.size());
        char *const kept = room_begin_;
        room_begin_ += name.size();
        room_ -= name.size();
        return {kept, name.copy(kept, name.size())};
    }

    void add_block(std::size_t size_min);
    void add(const ListedSymbol &symbol);
    void put_in_order(); // after the last line
    template<typename Visit> void for_each_of_stem(std::string_view name, Visit visit) const;
    void note_places(std::string_view stem) const;

    std::vector<std::unique_ptr<char[]>> blocks_; // of names
    char *room_begin_ = nullptr;                  // in the last one
    std::size_t room_ = 0;
    std::vector<Symbol> symbols_; // by address
    std::optional<std::uint64_t> vmemmap_base_, per_cpu_offset_;
    /// Finds symbols_ by the name up to its first dot. It is made when several names have been asked for: to look through all symbols once
    /// or twice takes a small part of that.
    mutable std::optional<NameIndex> by_stem_;
    mutable int stems_sought_ = 0;
    mutable std::string last_stem_;
    mutable std::vector<std::uint32_t> last_places_; // in symbols_, of those that have it
};

/// Makes one of symbols that are not in a file of that form.
class Kallsyms::Builder {
public:
    Builder() { made_.symbols_.reserve(usual_functions); }

    /// In the kernel's order, symbols of all types. The strings are copied.
    void add(const ListedSymbol &symbol) { made_.add(symbol); }

    Kallsyms finish() && {
        made_.put_in_order();
        return std::move(made_);
    }

private:
    Kallsyms made_;
};

} // namespace argtrace
