// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>

#include "elf/call_frames.h"
#include "elf/object.h"
#include "uapi/argtrace_user.h"

namespace argtrace::elf {

/// How to unwind procedure linkage tables, which lld and arm64's linkers do not describe: by what their entries do. Hands ranges of the file to
/// `add`, ascending within each section.
void visit_linkage_rows(const Object &object, const FrameRegisters &registers,
                        const std::function<void(std::uint64_t start, std::uint64_t end, const argtrace_unwind_rule &rule)> &add);

} // namespace argtrace::elf
