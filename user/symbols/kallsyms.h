// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/symbols.h"
#include "util/name_index.h"

namespace argtrace {

/// The kernel's function symbols, and the variables that expressions need, read once.
class Kallsyms {
public:
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
    Kallsyms() = default;

    std::string_view keep(std::string_view name);
    void add(std::string_view line);
    void put_in_order(); // after the last line

    std::unique_ptr<std::pmr::monotonic_buffer_resource> names_ =
        std::make_unique<std::pmr::monotonic_buffer_resource>();
    std::vector<Symbol> symbols_; // by address
    std::optional<std::uint64_t> vmemmap_base_, per_cpu_offset_;
    NameIndex by_stem_;           // of symbols_, by the name up to its first dot
};

} // namespace argtrace
