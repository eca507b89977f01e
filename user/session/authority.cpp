// SPDX-License-Identifier: GPL-2.0-only
#include "session/authority.h"

#include <cstddef>

#include <fmt/format.h>

namespace argtrace {

namespace {

bool leave_out(Argument &argument) {
    if (argument.loc != ARGTRACE_LOC_STACK)
        return false;
    argument.loc = ARGTRACE_LOC_NONE;
    argument.type = ARGTRACE_TYPE_END;
    argument.size = 0;
    argument.offset = 0;
    return true;
}

} // namespace

bool takes_user_stacks(const argtrace_info &info) {
    return (info.features & ARGTRACE_FEATURE_USER_STACK) && (info.authority & ARGTRACE_MAY_READ_MEMORY);
}

std::optional<std::string> leave_out_memory(std::vector<Probe> &probes, const argtrace_info &info) {
    if (info.authority & ARGTRACE_MAY_READ_MEMORY)
        return std::nullopt;
    std::size_t functions = 0;
    const Probe *first = nullptr;
    for (Probe &probe : probes) {
        bool any = false;
        for (Argument &argument : probe.args)
            any |= leave_out(argument);
        if (!any)
            continue;
        functions++;
        if (!first)
            first = &probe;
    }
    if (!first)
        return std::nullopt;
    return fmt::format("{}: arguments on the stack are shown as ?: reading memory takes CAP_BPF "
                       "beside CAP_PERFMON, or CAP_SYS_ADMIN",
                       functions == 1 ? first->function
                                      : fmt::format("{} and {} more", first->function,
                                                    functions - 1));
}

} // namespace argtrace
