// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

namespace argtrace {

/// A parameter of a function as C writes it: "const char *", "filename".
struct WrittenParameter {
    std::string type, name;
};

} // namespace argtrace
