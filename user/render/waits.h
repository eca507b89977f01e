// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/wait_totals.h"
#include "model/counts.h"
#include "render/aggregate.h"
#include "render/key_text.h"

namespace argtrace {

/// What waits are ordered by, the largest first.
enum class WaitOrder : std::uint8_t { total, blocked, runnable, count, longest };

/// Throws Error when the text is none of their names.
WaitOrder parse_wait_order(const std::string &text);

struct WaitStyle {
    WaitOrder order = WaitOrder::total;
    std::optional<std::size_t> top = {}; ///< that many keys
    StackForm form = StackForm::summary;
};

/// For people: each stack with what was waited there, or without stacks a table; then what each state comes to. Or what
/// `style.form` says; there the time that a task was runnable is a frame of its own, "[runnable]", and a waker stands on the task
/// that it woke, the other way round.
void append_waits(std::string &out, const WaitTotals &totals, KeyText &keys, const WaitStyle &style);

/// One JSON object a line; all times are ns. `time` is put first in each, unless it is empty: "ts":12.
///
///     {"key":{"comm":"dd"},"waits":2,"blocked":100,"runnable":20,"longest":80,"stack":[...],"user_stack":[...],"waker":{"comm":"sh","stack":[...]}}
void append_waits_json(std::string &out, const WaitTotals &totals, KeyText &keys, const WaitStyle &style,
                       std::string_view time = {});

/// What there is beside the waits.
struct WaitsAside {
    WaitTracker::LeftOut left_out;
    WaitTracker::Waiting waiting;
    std::uint64_t unwanted = 0;
    std::optional<argtrace_counts> records; ///< of a session
};

/// The sentences that come last, each in a line: what it comes to, and what is not in it.
std::string waits_summary(const WaitTotal &all, const WaitsAside &aside);

/// The same as the object that ends the JSON.
void append_waits_summary_json(std::string &out, const WaitTotal &all, const WaitsAside &aside);

} // namespace argtrace
