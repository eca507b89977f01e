// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

namespace argtrace {

inline constexpr std::uint64_t nanoseconds_per_second = 1000000000;
inline constexpr std::uint64_t nanoseconds_per_millisecond = 1000000;

} // namespace argtrace
