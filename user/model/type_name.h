// SPDX-License-Identifier: GPL-2.0-only
// What the name of a type says, where records are decoded and shown without the kernel's own types.
#pragma once

#include <string_view>

namespace argtrace {

/// Whether a number of the type is in the order of the network.
inline bool is_big_endian_name(std::string_view type) {
    return type == "__be16" || type == "__be32" || type == "__be64";
}

/// Whether a floating-point number of more than 8 bytes is one of the x87 unit, on x86-64.
inline bool is_x87_name(std::string_view type) {
    return type.find("long double") != type.npos || type.find("_Float64x") != type.npos;
}

/// What stands before the last stars of a type whose pointers lead to user memory, as in "char __user *".
inline constexpr std::string_view user_mark = "__user ";

/// What follows the type of the elements of on_page(), of which there are more, and of records(); and what is the type of pointers().
inline constexpr std::string_view page_suffix = "[...]", records_suffix = "[+]", pointers_type = "void *[0]",
                                  page_pointers_type = "void *[0...]";

inline bool has_user_mark(std::string_view type) {
    return type.find(user_mark) != type.npos;
}

} // namespace argtrace
