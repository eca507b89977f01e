// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "uapi/argtrace.h"

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

/// Of all causes, those of later versions too.
std::uint64_t lost_total(const argtrace_counts &counts);

/// records + filtered + sampled + capped + lost: every call of the function. Faults are beside it.
std::uint64_t hits(const argtrace_counts &counts);

void add_counts(argtrace_counts &sum, const argtrace_counts &counts);

/// "3 ring full, 1 inside argtrace itself": the causes that are not zero; may be empty.
std::string describe_lost(const argtrace_counts &counts);

} // namespace argtrace
