// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace argtrace {

/// Bytes of the well-formed UTF-8 sequence that `text` begins with (RFC 3629: no surrogates,
/// nothing overlong); 0 when there is none.
std::size_t utf8_length(std::string_view text);

/// Appends a character. What is none (surrogates, numbers above U+10FFFF) becomes U+FFFD.
void append_utf8(std::string &text, std::uint32_t character);

} // namespace argtrace
