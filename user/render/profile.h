// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/counts.h"
#include "render/aggregate.h"

namespace argtrace {

/// Where the ticks of a timer were: of each function in how many it was running, and in how many it was on the stack, the
/// former the most first. Where the keys have more parts than the stack, a table for each of them.
void append_profile(std::string &out, const Aggregation &all, std::span<const KeyColumn> columns,
                    KeyText &keys, const AggregateStyle &style);

/// The same as an object for each function, which begins with `time` where that is not empty.
void append_profile_json(std::string &out, const Aggregation &all, std::span<const KeyColumn> columns, KeyText &keys,
                         const AggregateStyle &style, std::string_view time = {});

/// "297 ticks: 99 counted, 198 idle, 0 filtered, 0 lost": where every tick has gone. Of those that the module has counted,
/// `idle` have found a CPU idle.
std::string tick_totals(const argtrace_counts &total, std::uint64_t idle);

/// "297 ticks: 297 recorded, 0 filtered, 0 lost", while nobody has looked at where they were.
std::string recorded_ticks(const argtrace_counts &total);

/// The same as the object that ends the JSON.
void append_tick_totals_json(std::string &out, const argtrace_counts &total, std::uint64_t idle);

} // namespace argtrace
