// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "decode/status.h"

namespace argtrace {

/// What could not be read, and the last reason.
struct Unreadable {
    std::uint64_t records = 0;
    std::uint64_t packets = 0; ///< or parts of them
    DecodeStatus why = DecodeStatus::ok;
};

} // namespace argtrace
