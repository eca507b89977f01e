// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace argtrace {

enum class Health {
    ok,
    limited, ///< something cannot be had, and tracing works all the same
    missing, ///< without it tracing does not work
    unseen,  ///< this process may not look
};

/// What one check has found.
struct Finding {
    std::string check;
    Health health = Health::ok;
    std::string says;
    std::string remedy = {}; ///< the way out; empty where none is needed
};

std::string_view health_name(Health health);

/// Nothing is missing.
bool tracing_works(const std::vector<Finding> &findings);

} // namespace argtrace
