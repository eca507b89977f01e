// SPDX-License-Identifier: GPL-2.0-only
// The tables of stacks that a session has.
#include <algorithm>
#include <cerrno>
#include <thread>

#include <fmt/format.h>

#include "session/session.h"
#include "session/stack_reader.h"
#include "util/error.h"
#include "util/units.h"

namespace argtrace {

namespace {

constexpr unsigned workers_max = 4; // that make tables of unwinding

} // namespace

std::optional<StackLoss> Session::stack_loss() const {
    auto stacks = StackReader::of(device_);
    return stacks ? stacks->lost() : std::nullopt;
}

std::optional<UserStackLoss> Session::user_stack_loss() const {
    auto stacks = StackReader::of(device_);
    auto loss = stacks ? stacks->user_lost() : std::nullopt;
    argtrace_objects objects{};
    objects.size = sizeof(objects); // without room for any: its numbers alone
    if (loss && device_.request(ARGTRACE_IOC_OBJECTS, &objects) == 0) {
        loss->unnumbered = objects.unnumbered;
        loss->unknown = objects.unknown;
        loss->refused = objects.refused;
    }
    return loss;
}

std::optional<argtrace_stacks> Session::existing_stacks(std::uint32_t flags) const {
    argtrace_stacks stacks{};
    stacks.size = sizeof(stacks);
    stacks.flags = ARGTRACE_STACKS_EXISTING | flags;
    if (device_.request(ARGTRACE_IOC_STACKS, &stacks) != 0)
        return std::nullopt;
    return stacks;
}

std::optional<std::uint32_t> Session::stack_table() const {
    auto stacks = existing_stacks(0);
    if (!stacks && info_.features & ARGTRACE_FEATURE_USER_STACK)
        stacks = existing_stacks(ARGTRACE_STACKS_USER);
    return stacks ? std::optional(stacks->entries) : std::nullopt;
}

void Session::choose_stack_table(std::uint32_t stacks) {
    if (const auto there = stack_table(); there && *there != stacks)
        throw Error(fmt::format("there is a session already, with room for {} stacks on each CPU: end it with `argtrace clear` "
                                "before you use --stack-table-size {}",
                                *there, stacks));
    stack_table_ = stacks;
}

UserObjects *Session::objects() const {
    if (!objects_ && info_.features & ARGTRACE_FEATURE_USER_STACK && existing_stacks(ARGTRACE_STACKS_USER)) {
        const unsigned workers = std::clamp(std::thread::hardware_concurrency() / 2, 1u, workers_max);
        objects_ = std::make_unique<UserObjects>(module_objects(device_.fd()), naming_, workers);
        objects_->set_process(code_.process);
    }
    return objects_.get();
}

/// Gives the session tables of stacks where one of the probes names them.
void Session::provide_stacks(std::span<const Probe> probes) const {
    StackChoice named;
    for (const Probe &probe : probes)
        named = named | named_stacks(probe);
    if (!named.any() && stack_table_ && !stack_table())
        throw Error("--stack-table-size makes room for stacks, and none are taken: ask for them, with --stack or --by stack, "
                    "or leave it out");
    if (named.kernel)
        provide_stacks(kernel_stack);
    if (named.user)
        provide_user_stacks();
}

/// And the module, before probes are added, what it takes to unwind the code that they will meet.
void Session::provide_user_stacks() const {
    if (!(info_.features & ARGTRACE_FEATURE_USER_STACK))
        throw Error("the loaded module takes no stacks of user code: leave out --stack=user and ustack, or load the module of this version");
    if (!(info_.authority & ARGTRACE_MAY_READ_MEMORY))
        throw Error("stacks of user code are read from memory, which takes CAP_BPF beside CAP_PERFMON, or CAP_SYS_ADMIN: leave out "
                    "--stack=user and ustack");
    provide_stacks(user_stack);
    if (UserObjects *found = objects())
        found->provide(code_);
}

void Session::provide_stacks(StackChoice which) const {
    argtrace_stacks stacks{};
    stacks.size = sizeof(stacks);
    stacks.entries = stack_table_.value_or(0);
    stacks.flags = which.user ? ARGTRACE_STACKS_USER : 0;
    switch (const int error = device_.request(ARGTRACE_IOC_STACKS, &stacks)) {
    case 0:
        return;
    case EOPNOTSUPP:
    case ENOTTY:
        throw Error(which.user ? "stacks of user code cannot be recorded on this kernel: leave out --stack=user and ustack"
                               : "stacks cannot be recorded on this kernel: its unwinder is not ORC "
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
