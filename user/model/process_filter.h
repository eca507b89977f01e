// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace argtrace {

/// The processes whose calls a session records.
struct ProcessFilter {
    std::vector<std::uint32_t> pids; ///< none: everybody's
    bool children = false;           ///< and those of the processes that these start
    bool excludes = false;           ///< these are not recorded, all others are

    bool operator==(const ProcessFilter &) const = default;
};

/// "process 12", "processes 12, 34 and their children"; "all processes".
std::string describe(const ProcessFilter &filter);

} // namespace argtrace
