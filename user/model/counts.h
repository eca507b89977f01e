// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "uapi/argtrace.h"
#include "uapi/argtrace_stack.h"
#include "uapi/argtrace_user.h"

namespace argtrace {

/// A cause of loss, as JSON and as a person reads it.
struct LostCause {
    std::string_view key;
    std::string_view words;
};

/// By enum argtrace_lost.
constexpr std::array<LostCause, ARGTRACE_LOST_COUNT> lost_causes{{
    {"full", "ring full"},
    {"recursion", "inside argtrace itself"},
    {"no_buffer", "CPU without a ring"},
}};

/// Calls lost for any cause, including causes of later versions.
std::uint64_t lost_total(const argtrace_counts &counts);

/// records + filtered + sampled + capped + lost: every call of the function. Faults are beside it.
std::uint64_t hits(const argtrace_counts &counts);

/// Calls that argtrace_counts does not have, for functions whose returns are followed.
struct ReturnTotals {
    std::uint64_t in_flight = 0;                               ///< not returned yet
    std::array<std::uint64_t, ARGTRACE_UNFOLLOWED_MAX> unfollowed{}; ///< by enum argtrace_unfollowed

    bool operator==(const ReturnTotals &) const = default;
};

/// By the numbers of probes.
using ReturnsById = std::unordered_map<std::uint32_t, ReturnTotals>;

/// A reason for which a return was not followed, as JSON and as a person reads it.
constexpr std::array<LostCause, ARGTRACE_UNFOLLOWED_COUNT> unfollowed_causes{{
    {"stack", "with too little stack left"},
    {"taken", "taken elsewhere by another session, a live patch or another tracer"},
    {"removed", "removed meanwhile"},
    {"exited", "in which the task ended"},
    {"missed", "missed by the kernel's fprobe, kretprobe or uretprobe"},
    {"left", "left without returning"},
    {"no_goroutine", "whose goroutine could not be read"},
}};

/// Calls that have no stack, by enum argtrace_stack_lost: each is among the faults, too.
using StackLoss = std::array<std::uint64_t, ARGTRACE_STACK_LOST_COUNT>;

/// A reason for which a call has no stack, as JSON and as a person reads it.
constexpr std::array<LostCause, ARGTRACE_STACK_LOST_COUNT> stack_loss_causes{{
    {"full", "with no room for one more"},
    {"recursion", "while the kernel's unwinder was at work"},
    {"unknown", "that the kernel's unwinder does not know"},
}};

/// Calls without a stack of user code, and such stacks that end before their time, by enum argtrace_end.
struct UserStackLoss {
    StackLoss lost{};
    std::array<std::uint64_t, ARGTRACE_END_COUNT> incomplete{};
    std::uint64_t unnumbered = 0; ///< mappings of files of which the module could not keep track; their code is shown as in no file
    std::uint64_t unknown = 0;    ///< processes of whose mappings it could not
    std::uint64_t refused = 0;    ///< files for whose unwind table it had no room, be it once

    bool operator==(const UserStackLoss &) const = default;
};

/// A reason for which one is incomplete, as JSON and as a person reads it.
constexpr std::array<LostCause, ARGTRACE_END_COUNT> stack_end_causes{{
    {"no_table", "in code that nothing says how to unwind"},
    {"no_rule", "at an instruction that its object's table does not know"},
    {"unreadable", "whose memory could not be read"},
    {"no_call", "where what should be a return address follows no call"},
    {"unmapped", "of processes whose mappings are not known"},
    {"32_bit", "of 32-bit code"},
}};

/// "3 in code that nothing says how to unwind": those that are not zero; may be empty.
std::string describe_stack_ends(const UserStackLoss &loss);

/// "3 with no room for one more, 1 while the kernel's unwinder was at work": those that are not zero; may be empty.
std::string describe_stack_loss(const StackLoss &loss);

std::uint64_t unfollowed_total(const ReturnTotals &returns);

/// The calls of that probe that are in flight, or were not followed.
std::uint64_t beside_counts(const ReturnsById &returns, std::uint32_t id);

void add_returns(ReturnTotals &sum, const argtrace_return_counts &counts);

/// "3 in flight, 1 in which the task ended": those that are not zero; may be empty.
std::string describe_returns(const ReturnTotals &returns);

argtrace_counts total_of(std::span<const argtrace_counts> counts);

/// "3 ring full, 1 inside argtrace itself": the causes that are not zero; may be empty.
std::string describe_lost(const argtrace_counts &counts);

} // namespace argtrace
