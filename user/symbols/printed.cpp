// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/printed.h"

#include <charconv>

#include "util/lines.h"

namespace argtrace {

namespace {

/// Takes "0x1c" off the beginning.
std::optional<std::uint64_t> take_hex(std::string_view &text) {
    if (!text.starts_with("0x"))
        return std::nullopt;
    text.remove_prefix(2);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    if (error != std::errc())
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

} // namespace

std::optional<Symbol> parse_printed_symbol(std::string_view text, std::uint64_t addr) {
    const std::size_t plus = text.find('+');
    if (plus == text.npos || plus == 0)
        return std::nullopt;
    Symbol symbol;
    symbol.name = text.substr(0, plus);
    text.remove_prefix(plus + 1);
    const auto offset = take_hex(text);
    if (!offset || *offset > addr || !text.starts_with('/'))
        return std::nullopt;
    text.remove_prefix(1);
    const auto size = take_hex(text);
    if (!size)
        return std::nullopt;
    symbol.addr = addr - *offset;
    symbol.size = *size;
    symbol.module = bracketed(next_word(text));
    return symbol;
}

} // namespace argtrace
