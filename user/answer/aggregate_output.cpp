// SPDX-License-Identifier: GPL-2.0-only
#include "answer/aggregate_output.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "answer/answer_target.h"
#include "render/profile.h"
#include "util/clock.h"
#include "util/terminal.h"
#include "util/utf8.h"

namespace argtrace {

namespace {

/// The locale says that the terminal shows UTF-8.
bool is_utf8() {
    for (const char *name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char *value = std::getenv(name);
        if (!value || !*value)
            continue;
        const std::string_view locale = value;
        return locale.find("UTF-8") != locale.npos || locale.find("utf8") != locale.npos;
    }
    return false;
}

/// So much of the line as fits the terminal.
std::string_view fitting(std::string_view line, std::size_t width) {
    std::size_t bytes = 0;
    for (std::size_t column = 0; column < width && bytes < line.size(); ++column)
        bytes += std::max<std::size_t>(utf8_length(line.substr(bytes)), 1);
    return line.substr(0, bytes);
}

} // namespace

AggregateOutput::AggregateOutput(const std::string &path, AggregateStyle style, bool json,
                                 bool ascii)
    : target_(open_answer_target(path)), output_(target_.fd()), style_(style), json_(json) {
    const bool terminal = ::isatty(target_.fd());
    if (terminal && !ascii && is_utf8())
        style_.bars = BarStyle::blocks;
    style_.described = style_.described.value_or(terminal && !json);
    screen_ = terminal && !json && terminal_size(target_.fd());
    target_.keep();
}

void AggregateOutput::set_keys(const std::vector<KeyColumn> &columns, CallerNames &names, TopFrames frames) {
    columns_ = &columns;
    keys_.emplace(names);
    keys_->set_top_frames(std::move(frames));
    keys_->set_described(*style_.described);
}

namespace {

/// As it is shown.
const Aggregation &shown(const Aggregation &all, const std::vector<KeyColumn> &columns, KeyText &keys, std::optional<Aggregation> &room) {
    room = keys.with_user_stacks(all, columns);
    return room ? *room : all;
}

} // namespace

/// What has been made so far, if it is enough to be written.
bool AggregateOutput::drain() {
    if (output_.full())
        abandoned_ = abandoned_ || !output_.flush();
    return !abandoned_;
}

bool AggregateOutput::flush() {
    abandoned_ = abandoned_ || !output_.flush();
    return !abandoned_;
}

void AggregateOutput::append_text(std::string &out, const Aggregation &added, const DrainText &drain) {
    std::optional<Aggregation> room;
    append_aggregate_text(out, shown(added, *columns_, *keys_, room), *columns_, *keys_, style_, drain);
}

void AggregateOutput::append_json(const Aggregation &added, std::string_view time) {
    std::optional<Aggregation> room;
    const Aggregation &all = shown(added, *columns_, *keys_, room);
    append_aggregate_json(output_.buffer(), all, *columns_, *keys_, style_, time, [this](std::string &) { return drain(); });
    if (style_.ticks && style_.stacks == StackForm::functions)
        append_profile_json(output_.buffer(), all, *columns_, *keys_, style_, time);
}

bool AggregateOutput::show(const Aggregation &all) {
    erase_state();
    if (json_)
        append_json(all, {});
    else
        append_text(output_.buffer(), all, [this](std::string &) { return drain(); });
    return flush();
}

bool AggregateOutput::show_interval(const Aggregation &all, std::uint64_t monotonic) {
    return show_interval(all, monotonic, realtime_now());
}

bool AggregateOutput::show_interval(const Aggregation &all, std::uint64_t monotonic, std::uint64_t realtime) {
    if (json_) {
        append_json(all, fmt::format("\"ts\":{}", monotonic));
    } else {
        output_.buffer() += time_of_day(realtime) + '\n';
        append_text(output_.buffer(), all);
        output_.buffer() += '\n';
    }
    return output_.flush();
}

bool AggregateOutput::show_state(const Aggregation &all) {
    std::string text;
    append_text(text, all);
    return replace(text);
}

bool AggregateOutput::put(std::string_view text) {
    output_.buffer() += text;
    return output_.flush();
}

bool AggregateOutput::replace(std::string_view text) {
    const auto size = terminal_size(target_.fd());
    if (!size)
        return put(text);
    erase_state();
    // One line less than there are, so that nothing scrolls.
    while (!text.empty() && lines_shown_ + 1 < size->lines) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        output_.buffer() += fitting(line, size->columns);
        output_.buffer() += '\n';
        ++lines_shown_;
    }
    return output_.flush();
}

/// Goes back to where it began, and erases what follows.
void AggregateOutput::erase_state() {
    if (lines_shown_ > 0)
        output_.buffer() += fmt::format("\x1b[{}A\r\x1b[J", lines_shown_);
    lines_shown_ = 0;
}

bool AggregateOutput::finish(const argtrace_counts &total, const ReturnTotals *returns, const StackLoss *stacks,
                             const UserStackLoss *user_stacks) {
    if (json_)
        append_aggregate_totals_json(output_.buffer(), total, returns, stacks, user_stacks);
    return output_.flush();
}

bool AggregateOutput::finish(const RecordedTotals &totals) {
    if (json_)
        append_recorded_totals_json(output_.buffer(), totals);
    return output_.flush();
}

bool AggregateOutput::finish_ticks(const argtrace_counts &total, std::uint64_t idle) {
    if (json_)
        append_tick_totals_json(output_.buffer(), total, idle);
    return output_.flush();
}

} // namespace argtrace
