// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>

#include "elf/call_frames.h"
#include "uapi/argtrace_user.h"

namespace argtrace::elf {

/// The state as a rule of the module's; nothing if no rule says exactly that.
std::optional<argtrace_unwind_rule> unwind_rule(const FrameState &state, bool is_signal_frame);

/// That of the instructions that a signal handler returns to: the stack pointer is the address of the
/// struct ucontext.
argtrace_unwind_rule sigreturn_rule();

/// No unwinder goes on from here, whatever else is said.
argtrace_unwind_rule end_rule();

} // namespace argtrace::elf
