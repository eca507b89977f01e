// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

namespace argtrace {

/// Holds every signed and every unsigned number of 64 bits, and the sum of as many of them as can be counted.
__extension__ typedef __int128 WideNumber;

/// A number of 64 bits as the one that it is.
constexpr WideNumber widen(std::uint64_t number, bool is_signed) {
    return is_signed ? WideNumber{static_cast<std::int64_t>(number)} : WideNumber{number};
}

} // namespace argtrace
