// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstring>
#include <string_view>

#include "uapi/argtrace.h"

namespace argtrace {

/// The module's version, which need not end with a NUL.
inline std::string_view module_version(const argtrace_info &info) {
    return {info.module_version, ::strnlen(info.module_version, sizeof(info.module_version))};
}

} // namespace argtrace
