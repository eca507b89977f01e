// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace argtrace {

/// What expressions have to know of a program of Go, beside the types of its functions.
struct GoProgram {
    std::optional<std::uint32_t> goroutine_id; ///< its offset in the runtime's struct g
    std::string why_no_id;                     ///< where that is not known

    /// The address of the section that describes types to the runtime (runtime.types), as the file has it; nothing if that is not known.
    std::optional<std::uint64_t> types = {};
    bool is_movable = false; ///< it may be loaded at any address

    /// Types, of which the runtime's descriptions are at these offsets in that section, whose values begin with a string: errors, and strings
    /// themselves. An interface has their address.
    std::vector<std::uint64_t> texts = {};

    bool operator==(const GoProgram &) const = default;
};

} // namespace argtrace
