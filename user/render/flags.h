// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace argtrace {

/// The four characters in which ftrace's latency format shows a context.
struct FlagsColumn {
    std::array<char, 4> text;

    operator std::string_view() const { return {text.data(), text.size()}; }
};

/// Interrupts and bottom halves off (d b D), need-resched (n p N), context (s h H z Z) and
/// preempt depth (1 to f); `.` for none.
FlagsColumn flags_column(std::uint8_t context, std::uint8_t preempt);

} // namespace argtrace
