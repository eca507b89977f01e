// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/error.h"

namespace argtrace {

/// Whose calls a session records.
struct ProcessFilter {
    std::vector<std::uint32_t> pids; ///< none: everybody's
    bool children = false;           ///< and those of the processes that these start

    bool operator==(const ProcessFilter &) const = default;
};

/// Reads "12" or "12,34" and appends what is not there yet. Throws Error, which begins with
/// `what`, on anything else.
void parse_pids(std::string_view what, std::string_view text, std::vector<std::uint32_t> &pids);

/// "process 12", "processes 12, 34 and their children"; "all processes".
std::string describe(const ProcessFilter &filter);

/// Why there is no process of that number: perhaps it is a thread of another one.
Error no_process(std::uint32_t pid);

} // namespace argtrace
