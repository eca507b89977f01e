// SPDX-License-Identifier: GPL-2.0-only
#include "model/user_frame.h"

#include <fmt/format.h>

namespace argtrace {

std::string describe_end(UserFrame end, std::string_view object) {
    const auto in = [object](std::string_view what, std::string_view word) {
        return object.empty() ? fmt::format("[... {}]", what) : fmt::format("[... {} {} {}]", what, word, object);
    };
    switch (end.offset) {
    case ARGTRACE_END_NO_TABLE:
        return in("no unwind table", "for");
    case ARGTRACE_END_NO_RULE:
        return in("no unwind rule", "in");
    case ARGTRACE_END_UNREADABLE:
        return "[... stack memory not readable]";
    case ARGTRACE_END_NO_CALL:
        return in("no return address", "in");
    case ARGTRACE_END_UNMAPPED:
        return "[... mappings not known]";
    case ARGTRACE_END_32_BIT:
        return "[... 32-bit code]";
    default:
        return "[...]";
    }
}

std::string describe_user_object(std::uint32_t object) {
    switch (object) {
    case ARGTRACE_OBJECT_MEMORY:
        return "[anonymous]";
    case ARGTRACE_OBJECT_VDSO:
        return "[vdso]";
    default:
        return fmt::format("[object {}]", object);
    }
}

} // namespace argtrace
