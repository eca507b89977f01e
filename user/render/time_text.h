// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "render/line.h"

namespace argtrace {

/// What the column TIME has.
enum class TimeStyle {
    mono,  ///< seconds of CLOCK_MONOTONIC
    delta, ///< seconds since the event before
    wall,  ///< time of day, in this machine's time zone
};

/// Nothing if `text` is the name of none.
std::optional<TimeStyle> parse_time_style(std::string_view text);

/// "mono, delta or wall"
std::string time_style_names();

struct TimeFormat {
    TimeStyle style = TimeStyle::mono;
    std::uint64_t monotonic = 0; ///< one moment by both clocks, in ns: what `wall` takes
    std::uint64_t realtime = 0;
};

/// Times of events -> text.
class TimeText {
public:
    explicit TimeText(TimeFormat format) : format_(format) {}

    TimeStyle style() const { return format_.style; }

    /// Characters that most events take, where `now` is their clock.
    std::size_t width(std::uint64_t now) const;

    /// The event before the next one.
    void follow(std::uint64_t ts) { before_ = ts; }

    void append(Line &out, std::uint64_t ts);

private:
    void append_wall(Line &out, std::uint64_t ts);

    TimeFormat format_;
    std::optional<std::uint64_t> before_;
    std::uint64_t second_ = ~std::uint64_t{0}; ///< since 1970, the one that `of_day_` is for
    std::string of_day_;                       ///< "14:03:21."
};

} // namespace argtrace
