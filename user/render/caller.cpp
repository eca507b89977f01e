// SPDX-License-Identifier: GPL-2.0-only
#include "render/caller.h"

#include <fmt/format.h>

namespace argtrace {

namespace {

// Symbols have no size: beyond this it is not the symbol's code any more.
constexpr std::uint64_t function_size_max = 1 << 20;

} // namespace

const std::string &CallerNames::name(std::uint64_t address) {
    auto known = names_.find(address);
    if (known == names_.end())
        known = names_.emplace(address, look_up(address)).first;
    return known->second;
}

std::string CallerNames::look_up(std::uint64_t address) const {
    auto symbol = symbols_ ? symbols_->at(address) : std::nullopt;
    if (!symbol || address - symbol->addr >= function_size_max)
        return fmt::format("{:#x}", address);
    std::uint64_t offset = address - symbol->addr;
    if (symbol->module.empty())
        return fmt::format("{}+{:#x}", symbol->name, offset);
    return fmt::format("{}+{:#x} [{}]", symbol->name, offset, symbol->module);
}

} // namespace argtrace
