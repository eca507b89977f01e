// SPDX-License-Identifier: GPL-2.0-only
#include "render/time_text.h"

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/format.h>

#include "util/nanoseconds.h"

namespace argtrace {

namespace {

// In the order of TimeStyle.
constexpr std::array<std::string_view, 3> style_names{"mono", "delta", "wall"};

constexpr std::size_t nanoseconds_width = sizeof(".123456789") - 1;
constexpr std::size_t wall_width = sizeof("14:03:21") - 1 + nanoseconds_width;
constexpr std::size_t delta_width = 2 + nanoseconds_width;

void append_seconds(Line &out, std::uint64_t time) {
    out.append_decimal(time / nanoseconds_per_second);
    out += '.';
    out.append_nanoseconds(static_cast<std::uint32_t>(time % nanoseconds_per_second));
}

} // namespace

std::optional<TimeStyle> parse_time_style(std::string_view text) {
    const auto found = std::find(style_names.begin(), style_names.end(), text);
    if (found == style_names.end())
        return std::nullopt;
    return static_cast<TimeStyle>(found - style_names.begin());
}

std::string time_style_names() {
    return fmt::format("{}, {} or {}", style_names[0], style_names[1], style_names[2]);
}

std::size_t TimeText::width(std::uint64_t now) const {
    switch (format_.style) {
    case TimeStyle::delta:
        return delta_width;
    case TimeStyle::wall:
        return wall_width;
    case TimeStyle::mono:
        break;
    }
    return fmt::format_int(now / nanoseconds_per_second).size() + nanoseconds_width;
}

void TimeText::append(Line &out, std::uint64_t ts) {
    switch (format_.style) {
    case TimeStyle::mono:
        append_seconds(out, ts);
        break;
    case TimeStyle::delta: {
        const std::uint64_t before = before_.value_or(ts);
        if (ts < before) // events of a file that is damaged, for one
            out += '-';
        append_seconds(out, ts < before ? before - ts : ts - before);
        break;
    }
    case TimeStyle::wall:
        append_wall(out, ts);
        break;
    }
    before_ = ts;
}

void TimeText::append_wall(Line &out, std::uint64_t ts) {
    const std::uint64_t time = format_.realtime + (ts - format_.monotonic);
    if (const std::uint64_t second = time / nanoseconds_per_second; second != second_) {
        second_ = second;
        const auto seconds = static_cast<std::time_t>(second);
        std::tm day{};
        ::localtime_r(&seconds, &day);
        of_day_ = fmt::format("{:02}:{:02}:{:02}.", day.tm_hour, day.tm_min, day.tm_sec);
    }
    out += of_day_;
    out.append_nanoseconds(static_cast<std::uint32_t>(time % nanoseconds_per_second));
}

} // namespace argtrace
