// SPDX-License-Identifier: GPL-2.0-only
#include "btf/go_type_name.h"

#include <cstddef>

namespace argtrace {

namespace {

/// Removes the dimensions that a type ends with, "[4][2]". What is in the brackets of a generic type is no number.
std::string_view take_dimensions(std::string_view &type) {
    const std::string_view whole = type;
    while (type.ends_with(']')) {
        const std::size_t open = type.rfind('[');
        if (open == type.npos || open + 2 == type.size() || type.find_first_not_of("0123456789", open + 1) != type.size() - 1)
            break;
        type.remove_suffix(type.size() - open);
    }
    return whole.substr(type.size());
}

void trim(std::string_view &type) {
    while (type.ends_with(' '))
        type.remove_suffix(1);
}

} // namespace

std::string go_type_name(std::string_view type) {
    trim(type);
    std::string name;
    if (const std::string_view dimensions = take_dimensions(type); !dimensions.empty()) {
        trim(type);
        if (const std::size_t stars = type.rfind("(*"); stars != type.npos && type.find_first_not_of('*', stars + 1) == type.size() - 1) {
            name.assign(type.size() - stars - 2, '*');
            type.remove_suffix(type.size() - stars);
        }
        return name.append(dimensions).append(go_type_name(type));
    }
    for (; type.ends_with('*'); type.remove_suffix(1), trim(type))
        name += '*';
    for (const std::string_view word : {"const ", "struct ", "union ", "enum "})
        if (type.starts_with(word))
            type.remove_prefix(word.size());
    if (type == "void" && !name.empty())
        return name.substr(1) + "unsafe.Pointer";
    return name.append(type);
}

} // namespace argtrace
