// SPDX-License-Identifier: GPL-2.0-only
#include "model/user_frame.h"

#include <fmt/format.h>

namespace argtrace {

std::string describe_user_place(std::uint64_t word) {
    const UserFrame frame(word);
    switch (frame.object) {
    case ARGTRACE_OBJECT_END:
        return end_mark;
    case ARGTRACE_OBJECT_MEMORY:
        return fmt::format("[anonymous]+{:#x}", frame.offset);
    case ARGTRACE_OBJECT_VDSO:
        return fmt::format("[vdso]+{:#x}", frame.offset);
    default:
        return fmt::format("[object {}]+{:#x}", frame.object, frame.offset);
    }
}

} // namespace argtrace
