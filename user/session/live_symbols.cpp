// SPDX-License-Identifier: GPL-2.0-only
#include "session/live_symbols.h"

#include "symbols/printed.h"

namespace argtrace {

std::optional<Symbol> LiveSymbols::find(CodePlace place) const {
    if (place.space == CodeSpace::user)
        return find_user(place.address);
    const auto symbol = ask(place.address);
    // While the kernel drops what a module needed to begin (do_init_module()), it takes an address
    // there for part of the last symbol before it, with a size to match, and says another size when
    // it is asked about that symbol itself.
    if (symbol && !symbol->module.empty() && symbol != ask(symbol->addr))
        return std::nullopt;
    return symbol;
}

std::optional<Stack> LiveSymbols::stack(std::uint64_t id, StackRoom & /*room*/) const {
    if (!stacks_)
        stacks_ = StackReader::of(session_.device());
    return stacks_ ? stacks_->find(id) : std::nullopt;
}

/// Where the function is not known, the object stands for it.
std::optional<Symbol> LiveSymbols::find_user(std::uint64_t word) const {
    UserObjects *objects = session_.objects();
    const auto found = objects ? objects->name(UserFrame(word)) : std::nullopt;
    if (!found)
        return std::nullopt;
    return Symbol{word - found->offset, found->name, {}, 0};
}

std::vector<SourceFrame> LiveSymbols::source(CodePlace place) const {
    UserObjects *objects = place.space == CodeSpace::user ? session_.objects() : nullptr;
    return objects ? objects->source(UserFrame(place.address)) : std::vector<SourceFrame>();
}

std::optional<CodeObject> LiveSymbols::object(std::uint32_t number) const {
    UserObjects *objects = session_.objects();
    return objects ? objects->describe(number) : std::nullopt;
}

std::optional<Symbol> LiveSymbols::ask(std::uint64_t addr) const {
    argtrace_symbol request{};
    request.size = sizeof(request);
    request.addr = addr;
    if (session_.device().request(ARGTRACE_IOC_SYMBOL, &request) != 0)
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
