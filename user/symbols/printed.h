// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "symbols/symbols.h"

namespace argtrace {

/// What the kernel says of an address (sprint_symbol() in kernel/kallsyms.c): "name+0x1c/0x40" and,
/// if it is a module's, " [module]". Nothing where `text` is something else: an address alone, of
/// code that has no symbol. The names are parts of `text`.
std::optional<Symbol> parse_printed_symbol(std::string_view text, std::uint64_t addr);

} // namespace argtrace
