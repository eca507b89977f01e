// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/aggregation.h"
#include "analyze/pairing.h"
#include "model/counts.h"
#include "model/stack_choice.h"
#include "render/histogram.h"
#include "render/key_text.h"

namespace argtrace {

/// What of an aggregation is shown.
enum class Statistic : std::uint8_t { count, sum, min, max, avg, hist, latency, stacks };

/// What its keys are ordered by: a number, the largest first (the least, of `min`), or the keys.
enum class AggregateOrder : std::uint8_t { count, sum, min, max, avg, key };

/// Throws Error when the text is none of their names.
AggregateOrder parse_aggregate_order(const std::string &text);

/// What is made of stacks: a summary for people, lines as flamegraph.pl and its like read them, a flame
/// graph, a profile for pprof, or what there was in each function.
enum class StackForm : std::uint8_t { summary, folded, svg, html, pprof, functions };

struct AggregateStyle {
    Statistic statistic = Statistic::count;
    AggregateOrder order = AggregateOrder::count;
    std::optional<std::size_t> top; ///< that many keys
    ValueUnit unit = ValueUnit::plain;
    BarStyle bars = BarStyle::ascii;
    StackForm stacks = StackForm::summary;
    StackChoice stack = kernel_stack; ///< with which keys end, where stacks are shown
    bool ticks = false; ///< it is not calls that are counted, but ticks
    std::optional<bool> described = {}; ///< keys are shown as the table of calls says; nothing: on a terminal
    std::string missing; ///< what a flame graph says is missing in it; may be empty
};

/// Its rows in their order, as many as are shown.
std::vector<const Aggregation::Entries::value_type *> ordered_rows(const Aggregation &all,
                                                                   const AggregateStyle &style);

/// Whether a part of a key is shown for itself, and not as a part of the stack alone.
bool is_shown_beside(const KeyColumn &column);

/// "vfs_read, comm=dd": a key, or the parts of it that have a column, and are shown for themselves.
std::string key_title(const Key &key, std::span<const KeyColumn> columns, KeyText &keys);

/// Is called now and then while text grows: it may take all that there is so far. False: nobody reads any more.
using DrainText = std::function<bool(std::string &text)>;
inline bool keep_text(std::string &) { return true; }

/// For people: a table, or a histogram for each key with a line below it of what it comes to. `columns`
/// has one for each part of the keys. What --top leaves out is told at the end.
void append_aggregate_text(std::string &out, const Aggregation &all,
                           std::span<const KeyColumn> columns, KeyText &keys,
                           const AggregateStyle &style, const DrainText &drain = keep_text);

/// The parts of a key that have a column, as the members with which an object begins: "func", "key", "cut", "stack" and "user_stack", each
/// with a comma behind it. "cut" has the names of those texts of the key that may have been longer than the room for them.
void append_json_key(std::string &out, const Key &key, std::span<const KeyColumn> columns, KeyText &keys);

/// One JSON object a line:
///
///     {"func":"vfs_read","key":{"comm":"dd"},"count":12}
///     {"key":{"comm":"dd"},"count":12,"sum":49152,"min":4096,"max":4096,"avg":4096.0}
///     {"key":{"comm":"dd"},"buckets":[{"from":4096,"to":8192,"count":12}],"count":12,"sum":...}
///
/// `func` is there if the function is part of the key, `stack` and `user_stack` if these are, `key` if something else is; `faults` if values
/// could not be read; `p50`, `p90` and `p99` for `latency`. An end of a linear histogram is null. `time`
/// is put first in each, unless it is empty: "ts":12.
void append_aggregate_json(std::string &out, const Aggregation &all,
                           std::span<const KeyColumn> columns, KeyText &keys,
                           const AggregateStyle &style, std::string_view time = {}, const DrainText &drain = keep_text);

/// "12 calls: 10 added up, 0 filtered, 2 lost (2 map full)", then what else there is, as calls_summary()
/// has it: where every call has gone. `returns` are calls beside those of `total`.
std::string aggregate_totals(const argtrace_counts &total, const ReturnTotals &returns);

/// The same as the object that ends the JSON; `overflow` are the calls for which a map was full, `lost`
/// those that were lost for other reasons. `stacks`: which have no stack, where stacks are keys.
void append_aggregate_totals_json(std::string &out, const argtrace_counts &total,
                                  const ReturnTotals *returns, const StackLoss *stacks = nullptr,
                                  const UserStackLoss *user_stacks = nullptr);

/// Where calls have gone that were recorded, and then added up, or paired.
struct RecordedTotals {
    std::optional<argtrace_counts> counts; ///< when they were made; nothing: a recording that was cut short does not tell
    const ReturnTotals *returns = nullptr; ///< calls beside them; may be null
    std::uint64_t added = 0;               ///< records that were added up, or looked at for pairs,
    std::uint64_t filtered = 0;            ///< those that were not wanted,
    std::uint64_t left_out = 0;            ///< and those that lack a value
    const Pairing *pairing = nullptr;      ///< null: they were added up
};

/// The same for these. Records that are gone, because they were overwritten or cannot be read, are lost as well; what is not known
/// is null. `pairs` and `unpaired` say what became of those that were looked at for pairs.
void append_recorded_totals_json(std::string &out, const RecordedTotals &totals);

} // namespace argtrace
