// SPDX-License-Identifier: GPL-2.0-only
#include "render/histogram.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "util/units.h"

namespace argtrace {

namespace {

constexpr std::size_t histogram_width = 80;
constexpr std::size_t histogram_frame = 4; // a blank before the count, " |" behind it, and "|"

/// How wide the columns are: as the widest of their rows, and mostly the same.
struct HistogramColumns {
    std::size_t range = 16, count = 8;

    void fit(std::string_view range_text, std::uint64_t calls) {
        range = std::max(range, range_text.size());
        count = std::max(count, fmt::formatted_size("{}", calls));
    }
    /// What they leave of a line.
    std::size_t bar() const { return histogram_width - histogram_frame - range - count; }
};

/// With the largest power of 1024 that divides it.
std::string format_binary(WideNumber value) {
    constexpr std::string_view letters = "KMGTPE";
    std::size_t power = 0;
    while (value != 0 && value % 1024 == 0 && power < letters.size()) {
        value /= 1024;
        ++power;
    }
    return power ? fmt::format("{}{}", value, letters[power - 1]) : fmt::format("{}", value);
}

std::string format_edge(WideNumber value, ValueUnit unit) {
    return unit == ValueUnit::plain ? format_binary(value) : format_value(value, unit);
}

void append_bar(std::string &out, std::size_t width, std::uint64_t count, std::uint64_t most, BarStyle style) {
    constexpr std::array<std::string_view, 8> parts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const double share = most ? static_cast<double>(count) / static_cast<double>(most) : 0;
    const bool blocks = style == BarStyle::blocks;
    const auto eighths = static_cast<std::size_t>(share * static_cast<double>(width) * 8);
    // With blocks a bucket that has values can always be told from an empty one.
    const std::size_t shown = blocks && count > 0 ? std::max<std::size_t>(eighths, 1) : eighths;
    const std::size_t full = shown / 8;
    for (std::size_t i = 0; i < full; ++i)
        out += blocks ? "█" : "@";
    std::size_t used = full;
    if (blocks && shown % 8 != 0) {
        out += parts[shown % 8];
        ++used;
    }
    out.append(width - used, ' ');
}

} // namespace

std::string format_value(WideNumber value, ValueUnit unit) {
    if (unit == ValueUnit::plain)
        return fmt::format("{}", value);
    const bool negative = value < 0;
    return (negative ? "-" : "") + format_duration(negative ? -value : value);
}

std::string format_range(const Buckets::Range &range, ValueUnit unit) {
    if (range.open_below)
        return fmt::format("(..., {})", format_edge(range.to, unit));
    if (range.open_above)
        return fmt::format("[{}, ...)", format_edge(range.from, unit));
    if (range.to == range.from + 1)
        return fmt::format("[{}]", format_edge(range.from, unit));
    if (range.to <= 0) // powers of two end such a bucket at its lower end
        return fmt::format("({}, {}]", format_edge(range.from - 1, unit),
                           format_edge(range.to - 1, unit));
    return fmt::format("[{}, {})", format_edge(range.from, unit), format_edge(range.to, unit));
}

void append_histogram(std::string &out, const Aggregation &all, const Aggregation::Entry &entry,
                      ValueUnit unit, BarStyle style) {
    if (entry.buckets.empty())
        return;
    const auto range_of = [&](std::int64_t number) { return format_range(all.buckets().range_of(number), unit); };
    std::uint64_t most = 0;
    HistogramColumns columns;
    for (const auto &[number, tally] : entry.buckets) {
        most = std::max(most, tally.count);
        columns.fit({}, tally.count);
    }
    const std::int64_t last = std::prev(entry.buckets.end())->first;
    for (std::int64_t number = entry.buckets.begin()->first; number <= last; ++number)
        columns.fit(range_of(number), 0);
    for (std::int64_t number = entry.buckets.begin()->first; number <= last; ++number) {
        const auto known = entry.buckets.find(number);
        const std::uint64_t count = known == entry.buckets.end() ? 0 : known->second.count;
        fmt::format_to(std::back_inserter(out), "{:<{}} {:>{}} |", range_of(number), columns.range, count, columns.count);
        append_bar(out, columns.bar(), count, most, style);
        out += "|\n";
    }
}

} // namespace argtrace
