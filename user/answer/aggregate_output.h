// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/aggregation.h"
#include "file/trace_target.h"
#include "model/counts.h"
#include "render/aggregate.h"
#include "util/output.h"

namespace argtrace {

/// Where an aggregation goes to, and how it looks there.
class AggregateOutput {
public:
    /// `path` is a file, or empty for stdout. Throws Error when it cannot be written.
    AggregateOutput(const std::string &path, AggregateStyle style, bool json, bool ascii);

    /// How the keys are shown: the columns and the names stay the caller's. `frames` is for stacks.
    void set_keys(const std::vector<KeyColumn> &columns, CallerNames &names, TopFrames frames = {});

    /// What the values are, if that is not what the style says.
    void set_unit(ValueUnit unit) { style_.unit = unit; }

    /// What a flame graph says is missing in it; empty: nothing.
    void set_missing(std::string missing) { style_.missing = std::move(missing); }

    /// What is shown in the end. These are false when nobody reads it any more.
    [[nodiscard]] bool show(const Aggregation &all);
    /// What has come in an interval, under the time of day; in JSON with `monotonic` as "ts".
    [[nodiscard]] bool show_interval(const Aggregation &all, std::uint64_t monotonic);
    /// The same of a recording.
    [[nodiscard]] bool show_interval(const Aggregation &all, std::uint64_t monotonic, std::uint64_t realtime);
    /// On a terminal: how it stands, in place of what was shown so before.
    [[nodiscard]] bool show_state(const Aggregation &all);
    /// Text as it is.
    [[nodiscard]] bool put(std::string_view text);
    /// On a terminal text in place of what was shown so before, as much as fits; else behind it.
    [[nodiscard]] bool replace(std::string_view text);
    /// Lines have been typed, which are on the terminal, too.
    void note_typed(std::size_t lines) { lines_shown_ += lines; }
    /// In JSON the object that comes last.
    [[nodiscard]] bool finish(const argtrace_counts &total, const ReturnTotals *returns,
                              const StackLoss *stacks = nullptr, const UserStackLoss *user_stacks = nullptr);
    /// The same of calls that were recorded first.
    [[nodiscard]] bool finish(const RecordedTotals &totals);
    /// The same of ticks, of which so many have found a CPU idle.
    [[nodiscard]] bool finish_ticks(const argtrace_counts &total, std::uint64_t idle);

    /// How it stands can be shown, and replaced.
    bool is_screen() const { return screen_; }
    int fd() const { return output_.fd(); }

private:
    void append_json(const Aggregation &all, std::string_view time);
    void append_text(std::string &out, const Aggregation &all, const DrainText &drain = keep_text);
    bool drain();
    bool flush();
    void erase_state();

    TraceTarget target_;
    Output output_;
    AggregateStyle style_;
    bool json_;
    bool screen_ = false;
    bool abandoned_ = false; // nobody reads it any more
    std::size_t lines_shown_ = 0; // of show_state()
    const std::vector<KeyColumn> *columns_ = nullptr;
    std::optional<KeyText> keys_;
};

} // namespace argtrace
