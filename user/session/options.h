// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>

#include "model/code_naming.h"
#include "uapi/argtrace.h"

namespace argtrace {

/// Stacks that each CPU has room for if no number is wished, as uapi/argtrace_stack.h has it.
inline constexpr std::uint32_t default_stack_table = 4096;

/// Bytes per CPU for a session of which no record is read.
inline constexpr std::uint64_t least_buffer = 8192;

/// What the user may wish of a session when it is made; what is not given is the module's choice.
struct SessionOptions {
    std::optional<std::uint64_t> buffer; ///< bytes per CPU
    std::optional<bool> named;           ///< the named encoding instead of the compact one
    bool no_caller = false;
    bool flight = false;                ///< overwrites the oldest calls when the buffer is full
    std::optional<std::uint32_t> clock; ///< ARGTRACE_CLOCK_*

    /// Stacks that each CPU has room for, a power of two. A session may be given them later.
    std::optional<std::uint32_t> stack_table;

    CodeNaming naming = {};

    /// What cannot be chosen any more once there is the session.
    bool given() const { return buffer || named || no_caller || flight || clock; }
};

/// Bytes of one CPU's ring.
inline std::uint64_t ring_size(const argtrace_session_attr &session) {
    return std::uint64_t{session.packet_size} * session.nr_packets;
}

/// The attributes of a session as it is wished: the buffer is rounded up to a power of two.
/// Throws Error when the module cannot have it so.
argtrace_session_attr session_attributes(const SessionOptions &wished, const argtrace_info &info);

/// Throws Error when `session`, which is there already, is not as it is wished.
void check_attributes(const argtrace_session_attr &session, const SessionOptions &wished,
                      const argtrace_info &info);

} // namespace argtrace
