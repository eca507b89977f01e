// SPDX-License-Identifier: GPL-2.0-only
#include "session/live_symbols.h"

#include "symbols/printed.h"

namespace argtrace {

std::optional<Symbol> LiveSymbols::at(std::uint64_t addr) const {
    argtrace_symbol request{};
    request.size = sizeof(request);
    request.addr = addr;
    if (device_.request(ARGTRACE_IOC_SYMBOL, &request) != 0)
        return std::nullopt;
    auto symbol = parse_printed_symbol(request.text, addr);
    if (symbol) {
        symbol->name = keep(symbol->name);
        symbol->module = keep(symbol->module);
    }
    return symbol;
}

std::string_view LiveSymbols::keep(std::string_view name) const {
    return *names_.emplace(name).first;
}

} // namespace argtrace
