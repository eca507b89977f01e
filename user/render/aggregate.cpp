// SPDX-License-Identifier: GPL-2.0-only
#include "render/aggregate.h"

#include <algorithm>
#include <cctype>
#include <compare>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/floating.h"
#include "model/type.h"
#include "render/json.h"
#include "render/stack_summary.h"
#include "render/table.h"
#include "util/error.h"
#include "util/wide_number.h"

namespace argtrace {

namespace {

using Row = const Aggregation::Entries::value_type *;

constexpr std::pair<std::string_view, AggregateOrder> order_names[]{
    {"count", AggregateOrder::count}, {"sum", AggregateOrder::sum}, {"min", AggregateOrder::min},
    {"max", AggregateOrder::max},     {"avg", AggregateOrder::avg}, {"key", AggregateOrder::key},
};

constexpr std::pair<std::string_view, double> percentiles[]{
    {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};

int compare_parts(const KeyPart &a, const KeyPart &b) {
    if (a.value.is_text() || b.value.is_text())
        return a.text.compare(b.text);
    if (const TypeInfo &type = type_info(a.value.type); type.type_class == TypeClass::floating && a.value.type == b.value.type) {
        const std::strong_ordering order = std::strong_order(floating_value(a.value), floating_value(b.value));
        return order < 0 ? -1 : order > 0;
    }
    const bool is_signed = type_info(a.value.type).is_signed;
    const WideNumber one = widen(a.value.low, is_signed), other = widen(b.value.low, is_signed);
    return one < other ? -1 : one > other;
}

bool key_before(const Key &a, const Key &b) {
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
        if (const int difference = compare_parts(a[i], b[i]); difference != 0)
            return difference < 0;
    return a.size() < b.size();
}

/// By which rows are ordered: the greatest first.
double rank_of(const Aggregation &all, const Tally &tally, AggregateOrder order) {
    switch (order) {
    case AggregateOrder::count:
        return static_cast<double>(tally.count);
    case AggregateOrder::sum:
        return static_cast<double>(tally.sum);
    case AggregateOrder::min:
        return -static_cast<double>(all.min_of(tally));
    case AggregateOrder::max:
        return static_cast<double>(all.max_of(tally));
    case AggregateOrder::avg:
        return tally.mean();
    case AggregateOrder::key:
        break;
    }
    return 0;
}

struct RankedRow {
    double rank;
    std::uint64_t prefix; ///< of the key: rows with a smaller one are before others with the same rank
    Row row;
};

/// The first part that is not the same in all keys, if it is a number of one type everywhere: it tells most rows apart by itself.
std::optional<std::size_t> telling_part(const Aggregation::Entries &entries) {
    if (entries.empty())
        return std::nullopt;
    const Key &first = entries.begin()->first;
    std::size_t parts = first.size(); // that all keys have
    std::vector<bool> differs(parts), is_number(parts);
    for (std::size_t i = 0; i < parts; ++i)
        is_number[i] = !first[i].value.is_text() && type_info(first[i].value.type).type_class != TypeClass::floating;
    for (const auto &[key, entry] : entries) {
        parts = std::min(parts, key.size());
        for (std::size_t i = 0; i < parts; ++i) {
            if (key[i] != first[i])
                differs[i] = true;
            if (key[i].value.type != first[i].value.type)
                is_number[i] = false;
        }
    }
    const auto part = static_cast<std::size_t>(std::ranges::find(differs, true) - differs.begin());
    return part < parts && is_number[part] ? std::optional(part) : std::nullopt;
}

/// Such a part's value, as an unsigned number of the same order.
std::uint64_t prefix_of(const KeyPart &part) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return type_info(part.value.type).is_signed ? part.value.low ^ sign : part.value.low;
}

} // namespace

std::vector<Row> ordered_rows(const Aggregation &all, const AggregateStyle &style) {
    std::vector<RankedRow> ranked;
    ranked.reserve(all.entries().size());
    const auto part = telling_part(all.entries());
    for (const auto &row : all.entries())
        ranked.push_back({rank_of(all, row.second.total, style.order), part ? prefix_of(row.first[*part]) : 0, &row});
    const auto is_before = [](const RankedRow &a, const RankedRow &b) {
        if (a.rank != b.rank)
            return a.rank > b.rank;
        return a.prefix != b.prefix ? a.prefix < b.prefix : key_before(a.row->first, b.row->first);
    };
    const std::size_t shown = std::min(style.top.value_or(ranked.size()), ranked.size());
    if (shown < ranked.size())
        std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(shown), ranked.end(), is_before);
    std::sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(shown), is_before);
    std::vector<Row> rows;
    rows.reserve(shown);
    for (const RankedRow &one : std::span(ranked).first(shown))
        rows.push_back(one.row);
    return rows;
}

namespace {

bool is_number(const KeyColumn &column, const KeyPart &part) {
    const TypeClass type = type_info(part.value.type).type_class;
    return !column.format && (type == TypeClass::integer || type == TypeClass::floating);
}

std::string in_capitals(std::string_view name) {
    std::string head(name);
    const bool word = std::all_of(head.begin(), head.end(), [](unsigned char character) {
        return std::isalnum(character) || character == '_';
    });
    if (word) // an expression is shown as it was written
        std::transform(head.begin(), head.end(), head.begin(),
                       [](unsigned char character) { return std::toupper(character); });
    return head;
}

/// With so many digits behind the point. A double has no more than 53 bits, and would show a mean above the greatest value.
std::string decimal_mean(const Tally &tally, int digits) {
    constexpr WideNumber exact = WideNumber{1} << 53;
    const WideNumber sum = tally.sum < 0 ? -tally.sum : tally.sum, values = tally.values();
    if (sum < exact)
        return fmt::format("{:.{}f}", tally.mean(), digits);
    WideNumber scale = 1;
    for (int i = 0; i < digits; ++i)
        scale *= 10;
    WideNumber whole = sum / values, part = (sum % values * scale * 2 + values) / (values * 2);
    if (part == scale) {
        ++whole;
        part = 0;
    }
    return fmt::format("{}{}.{:0{}}", tally.sum < 0 ? "-" : "", whole, part, digits);
}

std::string format_mean(const Tally &tally, ValueUnit unit) {
    if (unit == ValueUnit::plain)
        return decimal_mean(tally, 1);
    const WideNumber values = tally.values();
    return format_value(tally.sum / values + (tally.sum % values * 2 >= values), unit);
}

std::string_view statistic_head(Statistic statistic) {
    switch (statistic) {
    case Statistic::sum:
        return "SUM";
    case Statistic::min:
        return "MIN";
    case Statistic::max:
        return "MAX";
    case Statistic::avg:
        return "AVG";
    default:
        return "";
    }
}

std::string statistic_cell(const Aggregation &all, const Tally &tally,
                           const AggregateStyle &style) {
    if (tally.values() == 0)
        return "?";
    switch (style.statistic) {
    case Statistic::sum:
        return format_value(tally.sum, style.unit);
    case Statistic::min:
        return format_value(all.min_of(tally), style.unit);
    case Statistic::max:
        return format_value(all.max_of(tally), style.unit);
    default:
        return format_mean(tally, style.unit);
    }
}

bool is_stack(const KeyPart &part) {
    return part.value.type == ARGTRACE_TYPE_STACK;
}

/// Stacks are the last columns: they may have any length.
void append_table(std::string &out, const Aggregation &all, const std::vector<Row> &rows,
                  std::span<const KeyColumn> columns, KeyText &keys, const AggregateStyle &style) {
    Table table;
    const auto is_of_stacks = [&rows](std::size_t column) {
        return std::ranges::any_of(rows, [column](Row row) { return is_stack(row->first[column]); });
    };
    std::vector<std::size_t> before, behind;
    for (std::size_t i = 0; i < columns.size(); ++i)
        (is_of_stacks(i) ? behind : before).push_back(i);
    const auto add_heads = [&](const std::vector<std::size_t> &which) {
        for (const std::size_t i : which)
            table.add_column(in_capitals(columns[i].name), std::ranges::all_of(rows, [&](Row row) {
                return is_number(columns[i], row->first[i]) && keys.described(columns[i], row->first[i]).empty();
            }));
    };
    const auto add_cells = [&](const std::vector<std::size_t> &which, const Key &key) {
        for (const std::size_t i : which)
            table.add_cell(keys.text(columns[i], key[i]));
    };
    add_heads(before);
    table.add_column("CALLS", true);
    const std::string_view head = statistic_head(style.statistic);
    if (!head.empty())
        table.add_column(std::string(head), true);
    add_heads(behind);
    for (const Row row : rows) {
        add_cells(before, row->first);
        table.add_cell(fmt::format("{}", row->second.total.count));
        if (!head.empty())
            table.add_cell(statistic_cell(all, row->second.total, style));
        add_cells(behind, row->first);
    }
    table.append_to(out);
}

} // namespace

bool is_shown_beside(const KeyColumn &column) {
    return column.top != KeyColumn::Top::only;
}

std::string key_title(const Key &key, std::span<const KeyColumn> columns, KeyText &keys) {
    std::string title;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (!is_shown_beside(columns[i]))
            continue;
        title += title.empty() ? "" : ", ";
        if (!columns[i].is_function)
            title += columns[i].name + '=';
        title += keys.text(columns[i], key[i]);
    }
    return title;
}

namespace {

/// "12 calls, mean 4.0K ...", below a histogram.
void append_sums(std::string &out, const Aggregation &all, const Aggregation::Entry &entry,
                 const AggregateStyle &style) {
    const Tally &tally = entry.total;
    auto to = std::back_inserter(out);
    fmt::format_to(to, "{} call{}", tally.count, tally.count == 1 ? "" : "s");
    if (tally.values() > 0) {
        fmt::format_to(to, ", mean {}", format_mean(tally, style.unit));
        if (style.statistic == Statistic::latency)
            for (const auto &[name, share] : percentiles)
                fmt::format_to(to, ", {} {}", name,
                               format_value(all.percentile(entry, share), style.unit));
        else
            fmt::format_to(to, ", sum {}, min {}", format_value(tally.sum, style.unit),
                           format_value(all.min_of(tally), style.unit));
        fmt::format_to(to, ", max {}", format_value(all.max_of(tally), style.unit));
    }
    if (tally.faults > 0)
        fmt::format_to(to, "; {} of them with a value that could not be read", tally.faults);
    out += '\n';
}

void append_json_number(std::string &out, std::string_view name, WideNumber value) {
    fmt::format_to(std::back_inserter(out), ",\"{}\":{}", name, value);
}

void append_json_cut(std::string &out, const Key &key, std::span<const KeyColumn> columns) {
    std::string_view separator;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (!key[i].value.cut)
            continue;
        out += separator.empty() ? "\"cut\":[" : separator;
        separator = ",";
        append_json_string(out, columns[i].name);
    }
    if (!separator.empty())
        out += "],";
}

} // namespace

void append_json_key(std::string &out, const Key &key, std::span<const KeyColumn> columns,
                     KeyText &keys) {
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i].is_function) {
            out += "\"func\":";
            keys.append_json(out, columns[i], key[i]);
            out += ',';
        }
    std::string_view separator;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].is_function || is_stack(key[i]))
            continue;
        out += separator.empty() ? "\"key\":{" : separator;
        separator = ",";
        append_json_string(out, columns[i].name);
        out += ':';
        keys.append_json(out, columns[i], key[i]);
        if (const std::string text = keys.described(columns[i], key[i]); !text.empty()) {
            out += ',';
            append_json_string(out, columns[i].name + ".text");
            out += ':';
            append_json_string(out, text);
        }
    }
    if (!separator.empty())
        out += "},";
    append_json_cut(out, key, columns);
    StackValues stacks;
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (is_stack(key[i]))
            (columns[i].is_user_stack ? stacks.user : stacks.kernel) = &key[i].value;
    keys.append_json_stacks(out, stacks, top_of(key, columns, keys));
}

namespace {

void append_json_buckets(std::string &out, const Aggregation &all,
                         const Aggregation::Entry &entry) {
    auto to = std::back_inserter(out);
    std::string_view separator;
    out += "\"buckets\":[";
    for (const auto &[number, tally] : entry.buckets) {
        const Buckets::Range range = all.buckets().range_of(number);
        out += separator;
        separator = ",";
        out += "{\"from\":";
        out += range.open_below ? "null" : fmt::format("{}", range.from);
        out += ",\"to\":";
        out += range.open_above ? "null" : fmt::format("{}", range.to);
        fmt::format_to(to, ",\"count\":{}}}", tally.count);
    }
    out += "],";
}

} // namespace

AggregateOrder parse_aggregate_order(const std::string &text) {
    std::vector<std::string_view> names;
    for (const auto &[name, order] : order_names) {
        if (name == text)
            return order;
        names.push_back(name);
    }
    throw Error(fmt::format("--sort takes {}, not '{}'", fmt::join(names, ", "), text));
}

void append_aggregate_text(std::string &out, const Aggregation &all,
                           std::span<const KeyColumn> columns, KeyText &keys,
                           const AggregateStyle &style, const DrainText &drain) {
    if (style.statistic == Statistic::stacks) {
        append_stacks(out, all, columns, keys, style, drain);
        return;
    }
    const std::vector<Row> rows = ordered_rows(all, style);
    const bool table = all.buckets().kind == Buckets::Kind::none;
    if (table)
        append_table(out, all, rows, columns, keys, style);
    for (const Row row : rows) {
        if (table)
            break;
        if (row != rows.front())
            out += '\n';
        if (const std::string title = key_title(row->first, columns, keys); !title.empty())
            out += title + '\n';
        append_histogram(out, all, row->second, style.unit, style.bars);
        append_sums(out, all, row->second, style);
    }
    if (const std::size_t more = all.entries().size() - rows.size(); more > 0)
        fmt::format_to(std::back_inserter(out), "... and {} more\n", more);
}

void append_aggregate_json(std::string &out, const Aggregation &all,
                           std::span<const KeyColumn> columns, KeyText &keys,
                           const AggregateStyle &style, std::string_view time, const DrainText &drain) {
    auto to = std::back_inserter(out);
    const bool has_values =
        style.statistic != Statistic::count && style.statistic != Statistic::stacks;
    for (const Row row : ordered_rows(all, style)) {
        const Aggregation::Entry &entry = row->second;
        const Tally &tally = entry.total;
        out += '{';
        if (!time.empty())
            fmt::format_to(to, "{},", time);
        append_json_key(out, row->first, columns, keys);
        if (all.buckets().kind != Buckets::Kind::none)
            append_json_buckets(out, all, entry);
        fmt::format_to(to, "\"count\":{}", tally.count);
        if (has_values && tally.values() > 0) {
            append_json_number(out, "sum", tally.sum);
            append_json_number(out, "min", all.min_of(tally));
            append_json_number(out, "max", all.max_of(tally));
            fmt::format_to(to, ",\"avg\":{}", decimal_mean(tally, 3));
            if (style.statistic == Statistic::latency)
                for (const auto &[name, share] : percentiles)
                    append_json_number(out, name, all.percentile(entry, share));
        }
        if (tally.faults > 0)
            append_json_number(out, "faults", tally.faults);
        out += "}\n";
        if (!drain(out))
            return;
    }
}

} // namespace argtrace
