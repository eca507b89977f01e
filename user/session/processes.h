// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/process_filter.h"
#include "util/error.h"

namespace argtrace {

/// The processes whose calls the user wants.
struct ProcessOptions {
    std::vector<std::uint32_t> pids;
    bool follow = false;

    bool given() const { return !pids.empty() || follow; }
    ProcessFilter filter() const { return {pids, follow}; }
};

/// Reads "12" or "12,34" and appends what is not there yet. Throws Error, which begins with
/// `what`, on anything else.
void parse_pids(std::string_view what, std::string_view text, std::vector<std::uint32_t> &pids);

/// Why there is no process of that number: perhaps it is a thread of another one.
Error no_process(std::uint32_t pid);

} // namespace argtrace
