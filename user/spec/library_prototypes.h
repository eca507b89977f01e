// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/written_parameter.h"

namespace argtrace {

/// A prototype as C writes it.
struct WrittenPrototype {
    std::string result; ///< its type
    std::string name;
    std::vector<WrittenParameter> parameters; ///< those without a name are "arg0", "arg1" ...
    bool variadic = false;
};

/// "size_t strlen(const char *s)". Arrays and functions given as parameters are pointers. Throws Error, which says what is wrong.
WrittenPrototype parse_prototype(std::string_view text);

/// The table that comes with the tool, see library_prototypes.table.
extern const std::string_view shipped_library_prototypes;

/// The prototype that the table has of a function in a library of that file name ("libc.so.6"); nothing if it has none.
std::optional<WrittenPrototype> find_library_prototype(std::string_view library, std::string_view function);

} // namespace argtrace
