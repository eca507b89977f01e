// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string_view>

namespace argtrace {

/// Bytes of the well-formed UTF-8 sequence that `text` begins with (RFC 3629: no surrogates,
/// nothing overlong); 0 when there is none.
std::size_t utf8_length(std::string_view text);

} // namespace argtrace
