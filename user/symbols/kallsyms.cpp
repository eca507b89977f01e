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

/// More than most kernels have. What is reserved and not used takes no memory.
constexpr std::size_t usual_functions = 1 << 17;

bool by_address(const Symbol &a, const Symbol &b) {
    return a.addr < b.addr;
}

// "ffffffff81000000 T name" and, tab-separated, "[module]".
std::optional<Symbol> parse_line(std::string_view line) {
    // Most lines are of data: they are told from the others first.
    const std::size_t blank = line.find(' ');
    if (blank == line.npos || blank + 3 >= line.size() || line[blank + 2] != ' ' ||
        std::string_view("tTwW").find(line[blank + 1]) == line.npos)
        return std::nullopt;

    Symbol symbol;
    const auto addr = parse_hex(line.substr(0, blank));
    if (!addr)
        return std::nullopt;
    symbol.addr = *addr;
    line.remove_prefix(blank + 3);
    symbol.name = line.substr(0, line.find('\t'));
    line.remove_prefix(symbol.name.size());
    if (!line.empty())
        symbol.module = bracketed(next_word(line));
    return symbol.name.empty() ? std::nullopt : std::optional(symbol);
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

Kallsyms Kallsyms::load(const std::string &path) {
    Kallsyms symbols;
    symbols.symbols_.reserve(usual_functions);
    try {
        read_lines(path, [&](std::string_view line) { symbols.add(line); });
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
    for_each_line(text, [&](std::string_view line) { symbols.add(line); });
    symbols.put_in_order();
    return symbols;
}

std::string_view Kallsyms::keep(std::string_view name) {
    char *const kept = static_cast<char *>(names_->allocate(name.size(), 1));
    return {kept, name.copy(kept, name.size())};
}

void Kallsyms::add(std::string_view line) {
    std::optional<Symbol> symbol = parse_line(line);
    if (!symbol) {
        const std::string_view name = line.substr(std::min(line.rfind(' ') + 1, line.size()));
        if (name == "vmemmap_base")
            vmemmap_base_ = parse_hex(line.substr(0, line.find(' ')));
        else if (name == "__per_cpu_offset")
            per_cpu_offset_ = parse_hex(line.substr(0, line.find(' ')));
        return;
    }
    symbol->name = keep(symbol->name);
    // Symbols of one module come in a row.
    if (!symbols_.empty() && symbols_.back().module == symbol->module)
        symbol->module = symbols_.back().module;
    else
        symbol->module = keep(symbol->module);
    symbols_.push_back(*symbol);
}

void Kallsyms::put_in_order() {
    sort_by_address(symbols_);
    by_stem_ = NameIndex(symbols_.size(), [this](std::size_t i) { return stem(symbols_[i].name); });
}

std::optional<std::uint64_t> Kallsyms::variable(std::string_view name) const {
    return name == "vmemmap_base"       ? vmemmap_base_
           : name == "__per_cpu_offset" ? per_cpu_offset_
                                        : std::nullopt;
}

std::vector<Symbol> Kallsyms::named(std::string_view name) const {
    std::vector<Symbol> found;
    by_stem_.for_each_candidate(stem(name), [&](std::uint32_t i) {
        if (symbols_[i].name == name)
            found.push_back(symbols_[i]);
    });
    return found;
}

std::vector<Symbol> Kallsyms::clones(std::string_view name) const {
    const std::string prefix = std::string(name) + '.';
    std::vector<Symbol> found;
    by_stem_.for_each_candidate(stem(name), [&](std::uint32_t i) {
        if (symbols_[i].name.starts_with(prefix))
            found.push_back(symbols_[i]);
    });
    std::stable_sort(found.begin(), found.end(),
                     [](const Symbol &a, const Symbol &b) { return a.name < b.name; });
    return found;
}

} // namespace argtrace
