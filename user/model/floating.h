// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <bit>
#include <cstdint>

#include "model/event.h"
#include "model/type.h"

namespace argtrace {

/// The number that a captured value of TypeClass::floating is, of which `low` has the bits.
inline double floating_value(const Value &value) {
    return value.type == ARGTRACE_TYPE_F32 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value.low)))
                                           : std::bit_cast<double>(value.low);
}

} // namespace argtrace
