// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "btf/format.h"
#include "model/event.h"

namespace argtrace {

// Members of what was recorded whole. A value that `data` does not reach is not captured.

/// What follows the first `offset` bytes, if there are so many.
inline std::span<const std::byte> behind(std::span<const std::byte> data, std::size_t offset) {
    return data.subspan(std::min(offset, data.size()));
}

/// The scalar that `data` begins with.
Value load_value(const Format &format, std::span<const std::byte> data);

/// The bitfield at that place; bits count from the lowest of the first byte.
Value load_bits(const Format &format, std::span<const std::byte> data, std::uint32_t offset,
                std::uint32_t bits);

} // namespace argtrace
