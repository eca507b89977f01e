// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

namespace argtrace::test {

/// A negative number as the bits of a Value.
constexpr std::uint64_t minus(std::int64_t value) {
    return static_cast<std::uint64_t>(value);
}

} // namespace argtrace::test
