// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstring>
#include <string>

namespace argtrace {

/// Appends a number as it lies in memory (the machine is little-endian).
template<typename Number>
void append_bytes(std::string &out, Number number) {
    char bytes[sizeof(number)];
    std::memcpy(bytes, &number, sizeof(number));
    out.append(bytes, sizeof(number));
}

} // namespace argtrace
