// SPDX-License-Identifier: GPL-2.0-only
#include "spec/return_refusal.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "abi/architecture.h"
#include "model/probe_kind.h"

// The module's own list.
#include "../../kmod/source/returns/refused.h"

namespace argtrace {

namespace {

using Refused = std::pair<std::string_view, std::string_view>;

#define REFUSED(function, why) Refused{#function, why},
constexpr auto refused_returns = std::to_array<Refused>({ARGTRACE_RETURN_REFUSED(REFUSED)});
#undef REFUSED

// The function of a system call, "s:exit", "s:ia32:exit".
std::string symbol_of(std::string_view title) {
    const Title name = split_title(title);
    if (*name.kind != syscall_kind)
        return std::string(title);
    const std::span<const SyscallAbi> abis = native_architecture().syscalls;
    const auto abi = std::ranges::find(abis, name.qualifier, &SyscallAbi::name);
    return abi == abis.end() ? std::string(title) : std::string(abi->prefix).append(name.name);
}

} // namespace

std::optional<std::string_view> return_refusal(std::string_view function) {
    const std::string symbol = symbol_of(function);
    function = symbol;
    const auto found = std::lower_bound(refused_returns.begin(), refused_returns.end(), function,
                                        [](const Refused &refused, std::string_view name) { return refused.first < name; });
    if (found == refused_returns.end() || found->first != function)
        return std::nullopt;
    return found->second;
}

} // namespace argtrace
