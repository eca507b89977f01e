// SPDX-License-Identifier: GPL-2.0-only
// The tables of stacks that a session has.
#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "session/session.h"
#include "session/stack_reader.h"
#include "util/error.h"
#include "util/units.h"

namespace argtrace {

std::optional<StackLoss> Session::stack_loss() const {
    auto stacks = StackReader::of(device_);
    return stacks ? std::optional(stacks->lost()) : std::nullopt;
}

std::optional<std::uint32_t> Session::stack_table() const {
    argtrace_stacks stacks{};
    stacks.size = sizeof(stacks);
    stacks.flags = ARGTRACE_STACKS_EXISTING;
    if (device_.request(ARGTRACE_IOC_STACKS, &stacks) != 0)
        return std::nullopt;
    return stacks.entries;
}

void Session::choose_stack_table(std::uint32_t stacks) {
    if (const auto there = stack_table(); there && *there != stacks)
        throw Error(fmt::format("there is a session already, with room for {} stacks on each CPU: end it with `argtrace clear` "
                                "before you use --stack-table-size {}",
                                *there, stacks));
    stack_table_ = stacks;
}

/// Gives the session tables of stacks where one of the probes names them.
void Session::provide_stacks(std::span<const Probe> probes) const {
    if (std::none_of(probes.begin(), probes.end(), [](const Probe &probe) { return names_stack(probe); })) {
        if (stack_table_ && !stack_table())
            throw Error("--stack-table-size makes room for stacks, and none are taken: ask for them, with --stack or --by stack, "
                        "or leave it out");
        return;
    }
    argtrace_stacks stacks{};
    stacks.size = sizeof(stacks);
    stacks.entries = stack_table_.value_or(0);
    switch (const int error = device_.request(ARGTRACE_IOC_STACKS, &stacks)) {
    case 0:
        return;
    case EOPNOTSUPP:
    case ENOTTY:
        throw Error("stacks cannot be recorded on this kernel: its unwinder is not ORC "
                    "(CONFIG_UNWINDER_ORC); leave out --stack");
    case ENOSPC: {
        const argtrace_info now = device_.info();
        throw Error(fmt::format("room for {} stacks on each CPU would pass the module's memory limit of {} ({} are in use); use a "
                                "smaller --stack-table-size, or raise the limit: /sys/module/argtrace/parameters/memory_limit_mb",
                                stack_table_.value_or(default_stack_table), format_size(now.memory_limit),
                                format_size(now.memory_used)));
    }
    case ENOMEM:
        throw Error(fmt::format("the kernel has no memory for {} stacks on each CPU: use a smaller --stack-table-size",
                                stack_table_.value_or(default_stack_table)));
    default:
        throw explain_request("record stacks", error, info_);
    }
}

} // namespace argtrace
