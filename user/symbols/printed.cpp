// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/printed.h"

#include "util/hex.h"
#include "util/lines.h"

namespace argtrace {

namespace {

/// The number of "0x1c".
std::optional<std::uint64_t> prefixed_hex(std::string_view text) {
    return text.starts_with("0x") ? parse_hex(text.substr(2)) : std::nullopt;
}

} // namespace

std::optional<Symbol> parse_printed_symbol(std::string_view text, std::uint64_t addr) {
    const std::string_view place = next_word(text);
    const std::size_t plus = place.find('+');
    const std::size_t slash = place.find('/', plus);
    if (plus == 0 || slash == place.npos)
        return std::nullopt;
    const auto offset = prefixed_hex(place.substr(plus + 1, slash - plus - 1));
    const auto size = prefixed_hex(place.substr(slash + 1));
    if (!offset || !size || *offset > addr)
        return std::nullopt;
    return Symbol{addr - *offset, place.substr(0, plus), bracketed(next_word(text)), *size};
}

} // namespace argtrace
