// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "model/event.h"

namespace argtrace {

/// Whether the call had not returned when recording ended: where returns are recorded, every other has a duration, or was left.
inline bool is_unfinished(const Event &event) {
    return records_returns(*event.probe) && !event.has_duration() && !event.left;
}

/// Event::cpu of such a call: where it began is not known.
inline constexpr std::uint32_t unknown_cpu = ~std::uint32_t{0};

} // namespace argtrace
