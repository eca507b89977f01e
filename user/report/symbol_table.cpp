// SPDX-License-Identifier: GPL-2.0-only
#include "report/symbol_table.h"

#include <mutex>

#include "symbols/kallsyms.h"

namespace argtrace {

bool SymbolTable::add(std::string_view lines) {
    const Kallsyms parsed = Kallsyms::parse(lines);
    const std::unique_lock lock(mutex_);
    for (const Symbol &symbol : parsed.all())
        symbols_.try_emplace(symbol.addr,
                             Names{std::string(symbol.name), std::string(symbol.module)});
    std::size_t wanted = 0;
    for (char character : lines)
        wanted += character == '\n';
    return parsed.all().size() == wanted && (lines.empty() || lines.back() == '\n');
}

std::optional<Symbol> SymbolTable::at(std::uint64_t addr) const {
    const std::shared_lock lock(mutex_);
    auto next = symbols_.upper_bound(addr);
    if (next == symbols_.begin())
        return std::nullopt;
    --next;
    return Symbol{next->first, next->second.name, next->second.module};
}

} // namespace argtrace
