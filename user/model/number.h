// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>

#include "model/event.h"
#include "model/type.h"

namespace argtrace {

/// A value as an unsigned number of as many bits as its type has; nothing where it was not captured, or is no number of one word.
inline std::optional<std::uint64_t> number_of(const Value &value) {
    const TypeInfo &type = type_info(value.type);
    const bool is_number = type.type_class == TypeClass::integer || type.type_class == TypeClass::address;
    if (!value.captured || !is_number || type.is_wide())
        return std::nullopt;
    return type.size < sizeof(value.low) ? value.low & ((std::uint64_t{1} << 8 * type.size) - 1) : value.low;
}

} // namespace argtrace
