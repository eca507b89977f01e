// SPDX-License-Identifier: GPL-2.0-only
#include "spec/followers.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

namespace {

// So many functions the kernel is told to follow of its own accord: each takes as long to begin as a thousand of ours.
constexpr std::size_t by_kernel_max = 64;

// Why its return value cannot be recorded; empty: it can.
std::string why_unfollowed(const Function &function) {
    if (!function.convention->uses_stack)
        return {};
    if (function.forced)
        return "its arguments are not known for sure";
    if (!function.prototype.source.types)
        return "its arguments are unknown";
    return function.convention->returning(function.prototype).why_not;
}

std::string_view why_another(std::uint32_t reason) {
    return reason == ARGTRACE_BY_BPF     ? "a BPF program has come to it first"
           : reason == ARGTRACE_BY_PATCH ? "it is live patched"
                                         : std::string_view();
}

bool wants_stack(const Capture &capture) {
    return std::any_of(capture.program.values.begin(), capture.program.values.end(),
                       [](const lang::ProgramValue &value) { return value.type == ARGTRACE_TYPE_STACK; });
}

} // namespace

std::string Followers::choose(Function &function) {
    if (*function.kind == user_kind)
        return choose_user_function(function);
    const ReturnBy by = return_by_of(*function.kind, request_.return_by);
    std::string why = why_unfollowed(function);
    if (!function.kind->by_kernel)
        return why.empty() ? why_unfollowed_by_us(function) : why;
    const std::uint32_t reason = why_by_kernel(function, !why.empty());
    if (by == ReturnBy::trampoline || (by == ReturnBy::automatic && reason == ARGTRACE_BY_CHOICE))
        return why;
    if (!why.empty() && reason == ARGTRACE_BY_CHOICE)
        return why;
    if (wants_stack(function.capture))
        return why_no_stack(why, reason);
    function.by = by == ReturnBy::kretprobe ? ARGTRACE_PROBE_BY_KRETPROBE : ARGTRACE_PROBE_BY_FPROBE;
    if (by == ReturnBy::automatic)
        function.by |= ARGTRACE_PROBE_BY_REASON(reason);
    return {};
}

std::string Followers::choose_user_function(Function &function) {
    const ReturnBy by = return_by_of(*function.kind, request_.return_by);
    UserReturns returns = function.find_returns ? function.find_returns() : UserReturns();
    if (!returns.why_none.empty())
        return std::string(returns.why_none);
    if (by == ReturnBy::uretprobe && function.is_go)
        return "the kernel's uretprobe would end a program of Go";
    if (by == ReturnBy::uretprobe)
        returns.by = {.loops = returns.by.loops};
    const bool by_uretprobe = !returns.by.known();
    function.returns = std::move(returns.by);
    if (by_uretprobe && returns.keeps_address)
        return "it keeps the address that it returns to, in place of which it would find that of the kernel's uretprobe";
    if (by_uretprobe && returns.is_called && !returns.is_called())
        return "it is not called but jumped to, and the kernel's uretprobe would replace what is no address to return to";
    if (by == ReturnBy::uretprobe && returns.throws)
        ended_by_exceptions_.emplace_back(function.name());
    if (!by_uretprobe || by == ReturnBy::uretprobe)
        return {};
    if (by == ReturnBy::ret)
        return "where it returns is not known, or it may end in a jump to another function";
    if (returns.throws)
        return "where it returns is not known, or it may end in a jump to another function, and the kernel's uretprobe would end a "
               "program that throws an exception through it (--return-by uretprobe takes that risk)";
    return {};
}

// Why its stack cannot be taken, as the kernel has to follow it.
std::string Followers::why_no_stack(const std::string &why, std::uint32_t reason) const {
    if (return_by_of(function_kind, request_.return_by) != ReturnBy::automatic)
        return "an fprobe or a kretprobe takes no stacks";
    const std::string_view first = why_another(reason);
    return fmt::format("{}, and with its stack it must be us who follow it", first.empty() ? why : first);
}

// Why the trampoline cannot follow it, where the kernel cannot either.
std::string Followers::why_unfollowed_by_us(const Function &function) {
    const std::string alone = fmt::format("{}s are followed by the trampoline alone", function.kind->noun);
    const ReturnBy by = return_by_of(*function.kind, request_.return_by);
    if (by == ReturnBy::trampoline)
        return {};
    if (by != ReturnBy::automatic)
        return alone;
    const std::string_view first = why_another(who_comes_first(function));
    return first.empty() ? std::string() : fmt::format("{}, and {}", first, alone);
}

// Why the kernel has to, if it can: enum argtrace_by_reason. ARGTRACE_BY_CHOICE: it need not, or cannot.
std::uint32_t Followers::why_by_kernel(const Function &function, bool unfollowed) {
    if (!function.prototype.source.types)
        return ARGTRACE_BY_CHOICE;
    if (unfollowed) {
        const Returning returning = function.convention->returning(function.prototype);
        return function.forced && returning.why_not.empty() ? static_cast<std::uint32_t>(ARGTRACE_BY_STACK) : returning.by_kernel;
    }
    return who_comes_first(function);
}

// ARGTRACE_BY_BPF or ARGTRACE_BY_PATCH where calls that are to go to the trampoline go there instead.
std::uint32_t Followers::who_comes_first(const Function &function) {
    if (!enabled_ && request_.enabled)
        enabled_ = request_.enabled();
    if (enabled_ && enabled_->is_direct(function.symbol.name, function.symbol.module))
        return ARGTRACE_BY_BPF;
    if (enabled_ && enabled_->is_modified(function.symbol.name, function.symbol.module))
        return ARGTRACE_BY_PATCH;
    return ARGTRACE_BY_CHOICE;
}

void Followers::limit(Found &found) const {
    if (!ended_by_exceptions_.empty())
        found.left.push_back(fmt::format("--return-by uretprobe: a program that throws an exception through {} will end: where the kernel's uretprobe has a function "
                                         "return to, no exception finds its handler",
                                         ended_by_exceptions_.size() == 1 ? ended_by_exceptions_.front()
                                                                          : fmt::format("one of these {} functions", ended_by_exceptions_.size())));
    std::vector<Function> &functions = found.functions;
    const auto is_by_kernel = [](const Function &function) { return function.by != 0; };
    const auto count = static_cast<std::size_t>(std::count_if(functions.begin(), functions.end(), is_by_kernel));
    if (return_by_of(function_kind, request_.return_by) != ReturnBy::automatic) {
        if (count > ARGTRACE_FALLBACKS_MAX)
            throw Error(fmt::format("--return-by: the kernel would have to follow {} functions, and {} is the most: name fewer, or "
                                    "leave it out",
                                    count, ARGTRACE_FALLBACKS_MAX));
        return;
    }
    if (count <= by_kernel_max)
        return;
    const auto first = std::find_if(functions.begin(), functions.end(), is_by_kernel);
    found.left.push_back(fmt::format("{} functions are left out, whose returns the kernel would have to follow, which takes long to "
                                      "begin: {} and others; name up to {} of them",
                                      count, first->name(), by_kernel_max));
    std::erase_if(functions, is_by_kernel);
}

} // namespace argtrace
