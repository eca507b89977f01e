// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "model/event.h"
#include "model/probe.h"
#include "model/type.h"

namespace argtrace {

/// The least of the kernel's error pointers, which are the largest addresses there are.
inline constexpr std::uint64_t least_error_pointer = 0 - std::uint64_t{4095}; // MAX_ERRNO, include/linux/err.h

/// An address that is one of the kernel's error pointers; of a signed number, that it is the negative of an errno.
inline bool is_error_pointer(std::uint64_t address) {
    return address >= least_error_pointer;
}

/// The errno that a returned value is: that of a negative number of four bytes or more, and of an error
/// pointer. 0 if it is none.
inline std::uint32_t error_number(const Value &value) {
    const TypeInfo &type = type_info(value.type);
    const bool number = type.type_class == TypeClass::integer && type.is_signed && type.size >= 4 &&
                        !type.is_wide();
    const bool pointer = type.type_class == TypeClass::address;
    if (!value.captured || !(number || pointer) || !is_error_pointer(value.low))
        return 0;
    return static_cast<std::uint32_t>(-value.low);
}

/// The same of what a call of the probe has returned: a user function has errors of its own.
inline std::uint32_t error_number(const Probe &probe, const Value &value) {
    return kind_of(probe) == user_kind ? 0 : error_number(value);
}

} // namespace argtrace
