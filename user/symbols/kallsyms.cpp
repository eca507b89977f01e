// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/kallsyms.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include <fmt/core.h>

#include "util/error.h"
#include "util/file.h"
#include "util/hex.h"
#include "util/lines.h"

namespace argtrace {

namespace {

constexpr std::size_t block_size = 64 << 10;

/// So many searches cost less than the index.
constexpr int stems_sought_without_index = 4;

bool by_address(const Symbol &a, const Symbol &b) {
    return a.addr < b.addr;
}

// What is not a function and needed all the same.
constexpr std::string_view vmemmap_base_name = "vmemmap_base";
constexpr std::string_view per_cpu_offset_name = "__per_cpu_offset";

bool is_variable_name(std::string_view name) {
    return name == vmemmap_base_name || name == per_cpu_offset_name;
}

// "ffffffff81000000 T name" and, tab-separated, "[module]". Of the lines that nobody asks for only some are left out, but those quickly.
std::optional<ListedSymbol> parse_line(std::string_view line) {
    const std::size_t blank = line.find(' ');
    if (blank == line.npos || blank + 3 >= line.size() || line[blank + 2] != ' ')
        return std::nullopt;
    ListedSymbol symbol;
    symbol.type = line[blank + 1];
    // Most lines are of data: they are told from the others first.
    if (!Kallsyms::is_function_type(symbol.type) && !is_variable_name(line.substr(blank + 3)))
        return std::nullopt;
    const auto addr = parse_hex(line.substr(0, blank));
    if (!addr)
        return std::nullopt;
    symbol.addr = *addr;
    line.remove_prefix(blank + 3);
    symbol.name = line.substr(0, line.find('\t'));
    if (is_mapping_symbol(symbol.name))
        return std::nullopt;
    line.remove_prefix(symbol.name.size());
    if (!line.empty())
        symbol.module = bracketed(next_word(line));
    return symbol;
}

// What a function and all that the compiler made of it have in common.
std::string_view stem(std::string_view name) {
    return name.substr(0, name.find('.'));
}

// As std::stable_sort(), where nearly all stand in order already: only what begins with the first
// that does not is sorted.
void sort_by_address(std::vector<Symbol> &symbols) {
    const auto disordered = std::is_sorted_until(symbols.begin(), symbols.end(), by_address);
    std::stable_sort(disordered, symbols.end(), by_address);
    std::inplace_merge(symbols.begin(), disordered, symbols.end(), by_address);
}

} // namespace

// ELF for the Arm 64-bit Architecture, mapping symbols. The kernel leaves out its own, and shows those of modules.
bool is_mapping_symbol(std::string_view name) {
    return name.starts_with('$');
}

Kallsyms Kallsyms::load(const std::string &path) {
    Kallsyms symbols;
    symbols.symbols_.reserve(usual_functions);
    try {
        read_lines(path, [&](std::string_view line) {
            if (const auto symbol = parse_line(line))
                symbols.add(*symbol);
        });
    } catch (const std::system_error &e) {
        throw Error(
            fmt::format("{}: the kernel's symbols cannot be read: {}", path, e.code().message()));
    }
    symbols.put_in_order();
    if (symbols.symbols_.empty())
        throw Error(fmt::format("{}: it lists no functions", path));
    if (symbols.symbols_.back().addr == 0)
        throw Error(fmt::format("{}: the kernel hides addresses from this user: run argtrace as "
                                "root (and if kernel.kptr_restrict is 2: sysctl "
                                "kernel.kptr_restrict=1)",
                                path));
    return symbols;
}

Kallsyms Kallsyms::parse(std::string_view text) {
    Kallsyms symbols;
    for_each_line(text, [&](std::string_view line) {
        if (const auto symbol = parse_line(line))
            symbols.add(*symbol);
    });
    symbols.put_in_order();
    return symbols;
}

void Kallsyms::add_block(std::size_t size_min) {
    room_ = std::max(size_min, block_size);
    room_begin_ = blocks_.emplace_back(std::make_unique_for_overwrite<char[]>(room_)).get();
}

void Kallsyms::add(const ListedSymbol &symbol) {
    if (!is_function_type(symbol.type)) {
        if (!symbol.module.empty())
            return;
        if (symbol.name == vmemmap_base_name)
            vmemmap_base_ = symbol.addr;
        else if (symbol.name == per_cpu_offset_name)
            per_cpu_offset_ = symbol.addr;
        return;
    }
    if (symbol.name.empty())
        return;
    // Symbols of one module come in a row.
    const bool same_module = !symbols_.empty() && symbols_.back().module == symbol.module;
    const std::string_view module = same_module ? symbols_.back().module : keep(symbol.module);
    symbols_.push_back({symbol.addr, keep(symbol.name), module});
}

void Kallsyms::put_in_order() {
    sort_by_address(symbols_);
}

template<typename Visit> void Kallsyms::for_each_of_stem(std::string_view name, Visit visit) const {
    const std::string_view wanted = stem(name);
    if (!by_stem_ && (stems_sought_ == 0 || wanted != last_stem_)) {
        if (stems_sought_++ == stems_sought_without_index)
            by_stem_ = NameIndex(symbols_.size(), [this](std::size_t i) { return stem(symbols_[i].name); });
        else
            note_places(wanted);
    }
    if (by_stem_)
        by_stem_->for_each_candidate(wanted, [&](std::uint32_t i) { visit(symbols_[i]); });
    else
        for (const std::uint32_t i : last_places_)
            visit(symbols_[i]);
}

void Kallsyms::note_places(std::string_view wanted) const {
    last_stem_ = wanted;
    last_places_.clear();
    for (std::size_t i = 0; i < symbols_.size(); i++) {
        const std::string_view name = symbols_[i].name;
        if (name.size() >= wanted.size() && (wanted.empty() || name.front() == wanted.front()) && name.starts_with(wanted) && (name.size() == wanted.size() || name[wanted.size()] == '.'))
            last_places_.push_back(static_cast<std::uint32_t>(i));
    }
}

std::optional<std::uint64_t> Kallsyms::variable(std::string_view name) const {
    return name == vmemmap_base_name     ? vmemmap_base_
           : name == per_cpu_offset_name ? per_cpu_offset_
                                         : std::nullopt;
}

std::vector<Symbol> Kallsyms::named(std::string_view name) const {
    std::vector<Symbol> found;
    for_each_of_stem(name, [&](const Symbol &symbol) {
        if (symbol.name == name)
            found.push_back(symbol);
    });
    return found;
}

std::vector<Symbol> Kallsyms::clones(std::string_view name) const {
    const std::string prefix = std::string(name) + '.';
    std::vector<Symbol> found;
    for_each_of_stem(name, [&](const Symbol &symbol) {
        if (symbol.name.starts_with(prefix))
            found.push_back(symbol);
    });
    std::stable_sort(found.begin(), found.end(),
                     [](const Symbol &a, const Symbol &b) { return a.name < b.name; });
    return found;
}

} // namespace argtrace
