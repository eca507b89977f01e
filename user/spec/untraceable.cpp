// SPDX-License-Identifier: GPL-2.0-only
#include "spec/untraceable.h"

#include <vector>

#include <fmt/format.h>

namespace argtrace {

namespace {

bool is_init_code(const Kallsyms &symbols, const Symbol &symbol) {
    const std::vector<Symbol> begin = symbols.named("_sinittext");
    const std::vector<Symbol> end = symbols.named("_einittext");
    return begin.size() == 1 && end.size() == 1 && symbol.addr >= begin.front().addr &&
           symbol.addr < end.front().addr;
}

} // namespace

Error why_untraceable(Kernel &kernel, const Symbol &symbol) {
    bool listed = false;
    try {
        listed = kernel.traceable().contains(symbol.name, symbol.module);
    } catch (const Error &e) {
        return Error(
            fmt::format("{}: the kernel does not trace it, and why cannot be looked up: {}",
                        symbol.name, e.what()));
    }
    if (listed)
        return Error(fmt::format("{}: the kernel refused to trace it at {:#x}, although it is in "
                                 "available_filter_functions: see dmesg",
                                 symbol.name, symbol.addr));
    if (is_init_code(kernel.symbols(), symbol))
        return Error(fmt::format("{}: cannot be traced: it ran while the kernel booted, and was "
                                 "freed after that",
                                 symbol.name));
    return Error(fmt::format("{}: cannot be traced: it is marked notrace or written in "
                             "assembly (it is not in available_filter_functions)",
                             symbol.name));
}

} // namespace argtrace
