// SPDX-License-Identifier: GPL-2.0-only
#include "render/top.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "render/json.h"
#include "util/error.h"
#include "util/nanoseconds.h"
#include "util/units.h"
#include "util/wide_number.h"

namespace argtrace {

namespace {

constexpr std::pair<std::string_view, TopOrder> top_orders[]{
    {"calls", TopOrder::calls}, {"errors", TopOrder::errors}, {"total", TopOrder::total},
    {"mean", TopOrder::mean},   {"p99", TopOrder::p99},       {"name", TopOrder::name},
};

struct TopRow {
    std::string_view name;
    std::uint64_t calls = 0, errors = 0;
    WideNumber total = 0, mean = 0;
    std::uint64_t p99 = 0, max = 0;
};

WideNumber top_rank(const TopRow &row, TopOrder order) {
    switch (order) {
    case TopOrder::calls:
        return row.calls;
    case TopOrder::errors:
        return row.errors;
    case TopOrder::total:
        return row.total;
    case TopOrder::mean:
        return row.mean;
    case TopOrder::p99:
        return row.p99;
    case TopOrder::name:
        break;
    }
    return 0; // all alike: the name decides
}

std::vector<TopRow> top_rows(const Aggregation &all, const TopStyle &style) {
    struct Function {
        std::string_view name;
        std::uint64_t errors = 0;
    };
    Aggregation by_name(all.buckets()); // errors and others together
    std::map<std::string_view, Function> functions;
    for (const auto &[key, entry] : all.entries()) {
        if (key.empty() || key[0].text.find(style.part) == key[0].text.npos)
            continue;
        by_name.add({key[0]}, entry);
        Function &function = functions[key[0].text];
        function.name = key[0].text;
        if (key.size() > 1 && key[1].value.low != 0)
            function.errors += entry.total.count;
    }
    std::vector<TopRow> rows;
    for (const auto &[key, entry] : by_name.entries()) {
        const Function &function = functions[key[0].text];
        const Tally &tally = entry.total;
        rows.push_back({function.name, tally.count, function.errors, tally.sum,
                        tally.values() ? tally.sum / tally.values() : 0,
                        static_cast<std::uint64_t>(by_name.percentile(entry, 0.99)), tally.max});
    }
    std::sort(rows.begin(), rows.end(), [&style](const TopRow &a, const TopRow &b) {
        const WideNumber one = top_rank(a, style.order), other = top_rank(b, style.order);
        return one != other ? one > other : a.name < b.name;
    });
    if (style.rows && rows.size() > *style.rows)
        rows.resize(*style.rows);
    return rows;
}

double per_second(std::uint64_t calls, std::uint64_t nanoseconds) {
    if (nanoseconds == 0)
        return 0;
    return static_cast<double>(calls) * nanoseconds_per_second / static_cast<double>(nanoseconds);
}

} // namespace

TopOrder parse_top_order(const std::string &text) {
    std::vector<std::string_view> names;
    for (const auto &[name, order] : top_orders) {
        if (name == text)
            return order;
        names.push_back(name);
    }
    throw Error(fmt::format("--sort takes {}, not '{}'", fmt::join(names, ", "), text));
}

std::string_view top_order_name(TopOrder order) {
    for (const auto &[name, known] : top_orders)
        if (known == order)
            return name;
    return "";
}

TopOrder next_top_order(TopOrder order, bool has_durations) {
    if (!has_durations)
        return order == TopOrder::calls ? TopOrder::name : TopOrder::calls;
    return order == TopOrder::name ? TopOrder::calls
                                   : static_cast<TopOrder>(static_cast<unsigned>(order) + 1);
}

void append_top(std::string &out, const Aggregation &all, std::uint64_t nanoseconds,
                const TopStyle &style) {
    // 80 columns, unless a name takes more.
    const std::size_t width = style.has_durations ? 21 : 60;
    auto to = std::back_inserter(out);
    fmt::format_to(to, "{:{}} {:>9} {:>9}", "FUNC", width, "CALLS", "PER SEC");
    if (style.has_durations)
        fmt::format_to(to, " {:>6} {:>7} {:>7} {:>7} {:>7}", "ERRORS", "TOTAL", "MEAN", "P99", "MAX");
    out += '\n';
    for (const TopRow &row : top_rows(all, style)) {
        fmt::format_to(to, "{:{}} {:>9} {:>9.0f}", row.name, width, row.calls, per_second(row.calls, nanoseconds));
        if (style.has_durations)
            fmt::format_to(to, " {:>6} {:>7} {:>7} {:>7} {:>7}", row.errors,
                           format_duration(row.total), format_duration(row.mean),
                           format_duration(row.p99), format_duration(row.max));
        out += '\n';
    }
}

void append_top_json(std::string &out, const Aggregation &all, std::uint64_t nanoseconds, const TopStyle &style, std::uint64_t ts) {
    auto to = std::back_inserter(out);
    for (const TopRow &row : top_rows(all, style)) {
        fmt::format_to(to, "{{\"ts\":{},\"func\":", ts);
        append_json_string(out, row.name);
        fmt::format_to(to, ",\"count\":{},\"per_second\":{:.1f}", row.calls, per_second(row.calls, nanoseconds));
        if (style.has_durations)
            fmt::format_to(to, ",\"errors\":{},\"sum\":{},\"avg\":{},\"p99\":{},\"max\":{}", row.errors, row.total, row.mean, row.p99,
                           row.max);
        out += "}\n";
    }
}

} // namespace argtrace
