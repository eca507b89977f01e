// SPDX-License-Identifier: GPL-2.0-only
#include "report/symbol_table.h"

#include <charconv>
#include <mutex>

#include "util/lines.h"

namespace argtrace {

namespace {

std::optional<std::uint64_t> parse_hex(std::string_view word) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, 16);
    if (error != std::errc() || end != word.data() + word.size())
        return std::nullopt;
    return number;
}

// "ffffffff81000000 0000000000000040 t name" and, tab-separated, "[module]"; the size may lack.
std::optional<Symbol> parse_line(std::string_view line) {
    const auto addr = parse_hex(next_word(line));
    std::string_view word = next_word(line);
    const auto size = word.size() == 1 ? 0 : parse_hex(word);
    if (word.size() != 1)
        word = next_word(line);
    const std::string_view name = next_word(line);
    if (!addr || !size || word.size() != 1 || name.empty())
        return std::nullopt;
    return Symbol{*addr, name, bracketed(next_word(line)), *size};
}

} // namespace

bool SymbolTable::add(std::string_view lines) {
    bool good = lines.empty() || lines.back() == '\n';
    const std::unique_lock lock(mutex_);
    for_each_line(lines, [&](std::string_view line) {
        if (const auto symbol = parse_line(line))
            symbols_.try_emplace(symbol->addr, Known{std::string(symbol->name),
                                                     std::string(symbol->module), symbol->size});
        else
            good = false;
    });
    return good;
}

std::optional<Symbol> SymbolTable::at(std::uint64_t addr) const {
    const std::shared_lock lock(mutex_);
    auto next = symbols_.upper_bound(addr);
    if (next == symbols_.begin())
        return std::nullopt;
    --next;
    const Symbol symbol{next->first, next->second.name, next->second.module, next->second.size};
    return reaches(symbol, addr) ? std::optional(symbol) : std::nullopt;
}

} // namespace argtrace
