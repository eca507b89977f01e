// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace argtrace {

/// The number that `digits` are, hexadecimal and without "0x"; nothing if they are anything else.
inline std::optional<std::uint64_t> parse_hex(std::string_view digits) {
    std::uint64_t number = 0;
    const char *const end = digits.data() + digits.size();
    const auto [rest, problem] = std::from_chars(digits.data(), end, number, 16);
    if (problem != std::errc() || rest != end)
        return std::nullopt;
    return number;
}

} // namespace argtrace
