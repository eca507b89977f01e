// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace argtrace {

/// A function of which calls have not returned.
struct InFlightFunction {
    std::uint32_t id = 0; ///< of the probe
    std::string name;
    std::uint64_t calls = 0;
    std::vector<std::string> tasks = {}; ///< "sleep 123": those that are known, each once

    bool operator==(const InFlightFunction &) const = default;
};

/// "vfs_read 3 (cat 12, sh 14), do_wait 1": those with the most calls first, as many as fit a few lines; empty where there are none.
std::string describe_in_flight(std::span<const InFlightFunction> functions);

} // namespace argtrace
