// SPDX-License-Identifier: GPL-2.0-only
#include "live/top_view.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "util/nanoseconds.h"

namespace argtrace {

namespace {

// What has been typed is seen so soon.
constexpr std::uint64_t listening_ns = 100 * nanoseconds_per_millisecond;

} // namespace

TopView::TopView(const AggregateOptions &options, AggregateOutput &output,
                 std::function<Aggregation()> read)
    : options_(options), output_(output), read_(std::move(read)), style_(*options.top),
      listens_(output.is_screen() && ::isatty(STDIN_FILENO)) {}

void TopView::begin(std::uint64_t now) {
    began_ = looked_ = now;
    due_ = now + options_.interval.value_or(nanoseconds_per_second);
}

std::optional<std::uint64_t> TopView::next() const {
    return listens_ ? std::min(due_, looked_ + listening_ns) : due_;
}

std::optional<LiveLoop::End> TopView::round(std::uint64_t now) {
    looked_ = now;
    const bool typed = listens_ && take_typed();
    if (ended_)
        return LiveLoop::End::reached;
    const bool is_due = now >= due_;
    if (is_due) {
        Aggregation all = read_();
        if (!paused_) {
            shown_ = all.since(before_);
            took_ = now - began_;
        }
        before_ = std::move(all);
        began_ = now;
        due_ = now + options_.interval.value_or(nanoseconds_per_second);
        ++rounds_;
    }
    if ((typed || (is_due && !paused_)) && !show(now))
        return LiveLoop::End::abandoned;
    return options_.rounds && rounds_ >= *options_.rounds ? std::optional(LiveLoop::End::reached)
                                                          : std::nullopt;
}

bool TopView::finish(std::uint64_t now) {
    if (rounds_ > 0)
        return true;
    shown_ = read_(); // it ended before the first interval did
    took_ = now - began_;
    return show(now);
}

/// Whether a line has been typed.
bool TopView::take_typed() {
    bool any = false;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    while (listens_ && ::poll(&input, 1, 0) > 0) {
        char bytes[256];
        const ssize_t size = ::read(STDIN_FILENO, bytes, sizeof(bytes));
        if (size <= 0) {
            listens_ = false; // there will be nothing more
            break;
        }
        typed_.append(bytes, static_cast<std::size_t>(size));
    }
    for (std::size_t end = typed_.find('\n'); end != typed_.npos; end = typed_.find('\n')) {
        ended_ = ended_ || !obey(std::string_view(typed_).substr(0, end));
        typed_.erase(0, end + 1);
        output_.note_typed(1);
        any = true;
    }
    return any;
}

/// False to end.
bool TopView::obey(std::string_view line) {
    if (line == "q")
        return false;
    if (line == "p")
        paused_ = !paused_;
    else if (line == "s")
        style_.order = next_top_order(style_.order, style_.has_durations);
    else if (line.starts_with('/'))
        style_.part = line.substr(1);
    return true;
}

bool TopView::show(std::uint64_t now) {
    std::string text;
    if (options_.json) {
        append_top_json(text, shown_, took_, style_, now);
        return output_.put(text);
    }
    if (output_.is_screen()) {
        text = fmt::format("{} calls, by {}{}{}\n", shown_.calls(), top_order_name(style_.order),
                           style_.part.empty() ? "" : fmt::format(", /{}", style_.part),
                           paused_ ? ", paused" : "");
        if (listens_)
            text += "type and Enter: s sort, p pause, /PART functions with it, q quit\n";
    }
    append_top(text, shown_, took_, style_);
    if (!output_.is_screen())
        text += '\n';
    return output_.replace(text);
}

} // namespace argtrace
