// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "btf/display_types.h"

namespace argtrace::lang {

/// What flag_names() has found among some types. There are some ten thousand constants, and the same few globs for the arguments of tens
/// of thousands of functions. The mutex protects all of it.
struct FlagNameCache {
    std::mutex mutex;
    std::vector<std::string> names;                                       ///< of all constants, in order; empty until somebody asks
    std::map<std::pair<std::string, bool>, std::vector<FlagName>> by_glob; ///< and whether those that are 0 are among them
};

} // namespace argtrace::lang
