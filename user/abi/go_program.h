// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace argtrace {

/// How the kernel finds the goroutine that a thread runs.
struct GoThread {
    std::string pointer;                       ///< an expression of the address of the runtime's struct g, or of where that is found
    std::optional<std::int64_t> current;       ///< how far behind it that address is; nothing: it is the address itself, if C has nothing else there
    std::uint32_t m = 0;                       ///< in struct g, where its struct m is
    std::uint32_t g0 = 0;                      ///< in that, where the g of the thread's own stack is, whose m it is as well
    std::uint32_t curg = 0;                    ///< likewise, where the goroutine is for which the thread works on the stack of the runtime

    bool operator==(const GoThread &) const = default;
};

/// The name of an enumeration among the types of the program's functions: where it begins goroutines, as the runtime has that of each.
inline constexpr const char *go_beginning_type = "go statement";

/// What expressions have to know of a program of Go, beside the types of its functions.
struct GoProgram {
    std::optional<std::uint32_t> goroutine_id; ///< its offset in the runtime's struct g
    std::string why_no_id;                     ///< where that is not known
    std::optional<std::uint32_t> beginning = {}; ///< in struct g: where the goroutine was begun; nothing: that is not known
    std::optional<GoThread> thread = {};       ///< nothing: that is not known

    /// The address of the section that describes types to the runtime (runtime.types), as the file has it; nothing if that is not known.
    std::optional<std::uint64_t> types = {};
    bool is_movable = false; ///< it may be loaded at any address

    /// Types, of which the runtime's descriptions are at these offsets in that section, whose values begin with a string: errors, and strings
    /// themselves. An interface has their address.
    std::vector<std::uint64_t> texts = {};

    bool operator==(const GoProgram &) const = default;
};

} // namespace argtrace
