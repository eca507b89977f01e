// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "model/event.h"
#include "model/result.h"
#include "model/type.h"
#include "render/digits.h"

namespace argtrace {

/// Characters that write_common_value() may write, whatever it returns.
inline constexpr std::size_t common_value_size_max = decimal_size_max;

/// The values that most arguments have, as text: integers, truth values, pointers. Returns the
/// end, or null (and has written nothing) for others: see append_text_value(). Inlined by force: it
/// is what rendering does most.
[[gnu::always_inline]] inline char *write_common_value(char *to, const Value &value) {
    if (!value.captured)
        return nullptr;
    if (value.type == ARGTRACE_TYPE_PTR) // most of all
        return is_error_pointer(value.low) ? nullptr : write_hex(to, value.low);
    const TypeInfo &type = type_info(value.type);
    if (type.type_class == TypeClass::integer && !type.is_wide())
        return type.is_signed ? write_decimal(to, static_cast<std::int64_t>(value.low))
                              : write_decimal(to, value.low);
    if (type.type_class == TypeClass::boolean) {
        std::memcpy(to, value.low ? "true " : "false", 5);
        return to + (value.low ? 4 : 5);
    }
    return nullptr;
}

inline constexpr std::size_t common_json_size_max = common_value_size_max + 2; ///< quotes

/// The same in JSON.
[[gnu::always_inline]] inline char *write_common_json(char *to, const Value &value) {
    if (value.type != ARGTRACE_TYPE_PTR)
        return write_common_value(to, value);
    char *end = write_common_value(to + 1, value);
    if (!end)
        return nullptr;
    *to = *end = '"';
    return end + 1;
}

} // namespace argtrace
