// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string_view>

namespace argtrace {

/// Whether a symbol is that of a part of a function which the compiler has put elsewhere: "foo.cold". It is jumped to, not called.
constexpr bool is_cold(std::string_view name) {
    return name.ends_with(".cold") || name.find(".cold.") != name.npos;
}

} // namespace argtrace
