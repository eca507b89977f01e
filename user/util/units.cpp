// SPDX-License-Identifier: GPL-2.0-only
#include "util/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "util/error.h"
#include "util/nanoseconds.h"

namespace argtrace {

namespace {

constexpr double seconds_max = 365.0 * 24 * 3600;

/// The power of two that a unit stands for.
std::optional<unsigned> unit_shift(std::string_view unit) {
    if (unit.empty() || unit == "B" || unit == "b")
        return 0;
    auto rest = unit.substr(1);
    if (!rest.empty() && rest != "B" && rest != "b" && rest != "iB" && rest != "ib")
        return std::nullopt;
    switch (unit[0]) {
    case 'k':
    case 'K':
        return 10;
    case 'm':
    case 'M':
        return 20;
    case 'g':
    case 'G':
        return 30;
    default:
        return std::nullopt;
    }
}

/// How long a unit of time is.
std::optional<double> unit_seconds(std::string_view unit) {
    constexpr std::pair<std::string_view, double> units[]{
        {"", 1}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600},
    };
    for (const auto &[name, seconds] : units) {
        if (unit == name)
            return seconds;
    }
    return std::nullopt;
}

/// See format_duration(). A thousand times the number must be one, too. Trace lines have one each: the C++ library's and fmt's own ways
/// with fractions take a thousand instructions.
template<typename Number>
std::string duration_text(Number nanoseconds) {
    constexpr std::string_view units[]{"ns", "us", "ms", "s"};
    std::size_t unit = 0;
    Number scale = 1;
    // What would be rounded up to 1000 of a unit is 1 of the next.
    while (unit < 3 && nanoseconds + scale / 2 >= 1000 * scale) {
        scale *= 1000;
        ++unit;
    }
    const int digits = unit == 0 ? 0 : 1000 * nanoseconds < 9995 * scale ? 2 : 100 * nanoseconds < 9995 * scale ? 1 : 0;
    const Number parts = digits == 2 ? 100 : digits == 1 ? 10 : 1; // of a unit
    const Number rounded = (parts * nanoseconds + scale / 2) / scale;
    if (digits == 0)
        return fmt::format(FMT_COMPILE("{}{}"), rounded, units[unit]);
    const auto hundredths = static_cast<unsigned>(digits == 2 ? rounded : 10 * rounded); // three digits' worth, below 10000
    std::array<char, 8> text{};
    char *end = std::to_chars(text.data(), text.data() + text.size(), hundredths / 100).ptr;
    *end++ = '.';
    *end++ = static_cast<char>('0' + hundredths / 10 % 10);
    if (digits == 2)
        *end++ = static_cast<char>('0' + hundredths % 10);
    return std::string(text.data(), end).append(units[unit]);
}

} // namespace

std::uint64_t parse_size(std::string_view what, std::string_view text) {
    std::uint64_t number = 0;
    const char *end = text.data() + text.size();
    auto [rest, problem] = std::from_chars(text.data(), end, number);
    auto shift = problem == std::errc{} ? unit_shift({rest, end}) : std::nullopt;
    if (!shift || number == 0 || number > std::numeric_limits<std::uint64_t>::max() >> *shift)
        throw Error(fmt::format("{} takes a size such as 64K, 4M or 1G, not '{}'", what, text));
    return number << *shift;
}

std::string format_size(std::uint64_t bytes) {
    struct Unit {
        unsigned shift;
        char letter;
    };
    for (Unit unit : std::array<Unit, 3>{{{30, 'G'}, {20, 'M'}, {10, 'K'}}}) {
        if (bytes != 0 && bytes % (std::uint64_t{1} << unit.shift) == 0)
            return fmt::format("{}{}", bytes >> unit.shift, unit.letter);
    }
    return fmt::format("{}", bytes);
}

std::uint64_t parse_count(std::string_view what, std::string_view text) {
    std::uint64_t number = 0;
    const char *end = text.data() + text.size();
    auto [rest, problem] = std::from_chars(text.data(), end, number);
    if (problem != std::errc{} || rest != end || number == 0)
        throw Error(fmt::format("{} takes a whole number from 1 on, not '{}'", what, text));
    return number;
}

std::uint64_t parse_duration(std::string_view what, std::string_view text) {
    double number = 0;
    const char *end = text.data() + text.size();
    auto [rest, problem] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    const std::optional<double> unit =
        problem == std::errc{} ? unit_seconds({rest, end}) : std::nullopt;
    const double seconds = number * unit.value_or(0);
    // The comparison is false for what is not a number, too.
    if (!(seconds * nanoseconds_per_second >= 1 && seconds <= seconds_max))
        throw Error(fmt::format("{} takes seconds, or a number with a unit, such as 10, 0.5, 500ms "
                                "or 2m, and at most a year, not '{}'",
                                what, text));
    return static_cast<std::uint64_t>(std::llround(seconds * nanoseconds_per_second));
}

std::uint64_t parse_moment(std::string_view what, std::string_view text) {
    constexpr std::size_t digits_max = 9;
    const auto [whole, fraction] = [text] {
        const std::size_t point = std::min(text.find('.'), text.size());
        const std::size_t behind = std::min(point + 1, text.size());
        return std::pair(text.substr(0, point), text.substr(behind));
    }();
    std::string digits(fraction);
    digits.resize(std::max(digits.size(), digits_max), '0');
    const auto read = [](std::string_view part, std::uint64_t &number) {
        const char *end = part.data() + part.size();
        const auto [rest, problem] = std::from_chars(part.data(), end, number);
        return problem == std::errc{} && rest == end;
    };
    std::uint64_t seconds = 0;
    std::uint64_t nanoseconds = 0;
    if (digits.size() > digits_max || !read(whole, seconds) || !read(digits, nanoseconds) ||
        seconds >= std::numeric_limits<std::uint64_t>::max() / nanoseconds_per_second)
        throw Error(fmt::format("{} takes moments in seconds such as 12.5, not '{}'", what, text));
    return seconds * nanoseconds_per_second + nanoseconds;
}

std::string format_span(std::uint64_t nanoseconds) {
    constexpr std::pair<std::string_view, std::uint64_t> units[]{
        {"h", 3600 * nanoseconds_per_second},
        {"m", 60 * nanoseconds_per_second},
        {"s", nanoseconds_per_second},
        {"ms", nanoseconds_per_millisecond},
        {"us", 1000},
    };
    for (const auto &[unit, length] : units) {
        if (nanoseconds != 0 && nanoseconds % length == 0)
            return fmt::format("{}{}", nanoseconds / length, unit);
    }
    return fmt::format("{}ns", nanoseconds);
}

std::string format_duration(WideNumber nanoseconds) {
    constexpr WideNumber narrow_max = std::numeric_limits<std::int64_t>::max() / 1000;
    return nanoseconds <= narrow_max ? duration_text(static_cast<std::int64_t>(nanoseconds)) : duration_text(nanoseconds);
}

} // namespace argtrace
