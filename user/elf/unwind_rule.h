// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "elf/call_frames.h"
#include "uapi/argtrace_user.h"

namespace argtrace::elf {

/// Whether a rule has room for the number.
template<typename To>
constexpr bool fits(std::int64_t number) {
    return number >= std::numeric_limits<To>::min() && number <= std::numeric_limits<To>::max();
}

/// The state as a rule of the module's; nothing if no rule says exactly that.
std::optional<argtrace_unwind_rule> unwind_rule(const FrameRegisters &registers, const FrameState &state, bool is_signal_frame);

/// That of the instructions that a signal handler returns to: the struct ucontext is `distance` bytes above the stack pointer.
argtrace_unwind_rule sigreturn_rule(const FrameRegisters &registers, std::int32_t distance);

/// No unwinder goes on from here, whatever else is said.
argtrace_unwind_rule end_rule(const FrameRegisters &registers);

/// So much is on the stack, where the return address is `ra_at` words from the end of it.
argtrace_unwind_rule stack_rule(const FrameRegisters &registers, std::int32_t size, std::int16_t ra_at = -1);

/// So much is on the stack, and a register has the return address.
argtrace_unwind_rule link_rule(const FrameRegisters &registers, std::int32_t size = 0);

} // namespace argtrace::elf
