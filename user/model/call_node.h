// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace argtrace {

/// A name as one of a chain of callers, of which a line has one after the other: without the semicolons
/// that part them, and without control characters.
inline std::string frame_name(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](char one) { return one == ';' || (one & 0xe0) == 0; }, '_');
    return name;
}

/// What was called by what, added up: a node for each different chain of callers.
struct CallNode {
    std::uint64_t self = 0; ///< of what is added up (ns, calls), that without what was called by it
    std::uint64_t calls = 0;
    bool in_module = false;
    bool in_user = false; ///< it is user code
    std::map<std::string, std::unique_ptr<CallNode>, std::less<>> callees;

    std::uint64_t total() const {
        std::uint64_t sum = self;
        for (const auto &[name, callee] : callees)
            sum += callee->total();
        return sum;
    }
};

} // namespace argtrace
