// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/probe.h"

namespace argtrace {

/// What follows calls until they return.
/// Those of user functions are for these alone, and the others for functions of the kernel: `automatic` for the rest.
enum class ReturnBy { automatic, trampoline, fprobe, kretprobe, ret, uretprobe };

inline ReturnBy return_by_of(const ProbeKind &kind, ReturnBy wanted) {
    const bool of_user = wanted == ReturnBy::ret || wanted == ReturnBy::uretprobe;
    return of_user == (kind == user_kind) ? wanted : ReturnBy::automatic;
}

/// Why the kernel does it instead of us, as JSON and as a person reads it.
struct ByReason {
    std::string_view key;
    std::string_view words;
};

/// By enum argtrace_by_reason.
constexpr std::array<ByReason, ARGTRACE_BY_REASONS> by_reasons{{
    {"choice", "as --return-by says"},
    {"variadic", "a variable number of arguments"},
    {"stack", "unknown arguments on the stack"},
    {"bpf", "a BPF program comes first"},
    {"patch", "live patched"},
}};

/// Whether the kernel follows its calls; they are recorded when they return.
inline bool is_by_kernel(const Probe &probe) {
    return probe.flags & ARGTRACE_PROBE_BY_KERNEL;
}

inline std::uint32_t by_reason(const Probe &probe) {
    return (probe.flags & ARGTRACE_PROBE_BY_REASON_MASK) >> ARGTRACE_PROBE_BY_REASON_SHIFT;
}

/// "trampoline", "fprobe", "kretprobe", "ret", "uretprobe": who follows the calls of a probe that records them when they return.
inline std::string_view return_way(const Probe &probe) {
    if (kind_of(probe) == user_kind)
        return probe.returns.empty() && !(probe.flags & ARGTRACE_PROBE_NEVER_RETURNS) ? "uretprobe" : "ret";
    if (probe.flags & ARGTRACE_PROBE_BY_FPROBE)
        return "fprobe";
    return probe.flags & ARGTRACE_PROBE_BY_KRETPROBE ? "kretprobe" : "trampoline";
}

/// The reason; those of later versions have no words here.
inline ByReason reason_of(const Probe &probe) {
    return by_reason(probe) < by_reasons.size() ? by_reasons[by_reason(probe)] : ByReason{"unknown", "for a reason of a later version"};
}

} // namespace argtrace
