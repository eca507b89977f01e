// SPDX-License-Identifier: GPL-2.0-only
#include "render/profile.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "render/function_counts.h"
#include "render/stack.h"

namespace argtrace {

namespace {

constexpr std::size_t rows_shown = 20;

/// Those of one group, that is of what precedes the stack in the keys.
struct Group {
    std::uint64_t ticks = 0;
    FunctionCounts functions;

    void add(const std::vector<std::string> &path, std::uint64_t count) {
        ticks += count;
        add_samples(functions, path, count);
    }
};

std::string ticks_of(std::uint64_t count) {
    return fmt::format("{} tick{}", count, count == 1 ? "" : "s");
}

void append_function_ticks(std::string &out, const Group &group, std::uint64_t all, std::size_t most) {
    std::vector<std::pair<std::string, FunctionCount>> order(group.functions.begin(),
                                                             group.functions.end());
    std::stable_sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
        return a.second.self != b.second.self ? a.second.self > b.second.self
                                              : a.second.total > b.second.total;
    });
    const std::size_t shown = std::min(order.size(), most);
    auto to = std::back_inserter(out);
    fmt::format_to(to, "{:>10} {:>6} {:>10} {:>6}  {}\n", "SELF", "%", "TOTAL", "%", "FUNCTION");
    for (std::size_t i = 0; i < shown; ++i) {
        const auto &[name, ticks] = order[i];
        fmt::format_to(to, "{:>10} {:>6.1f} {:>10} {:>6.1f}  {}\n", ticks.self,
                       percent(ticks.self, all), ticks.total, percent(ticks.total, all), name);
    }
    if (order.size() > shown)
        fmt::format_to(to, "{:37}... and {} more\n", "", order.size() - shown);
}

} // namespace

void append_profile(std::string &out, const Aggregation &all, std::span<const KeyColumn> columns,
                    KeyText &keys, const AggregateStyle &style) {
    const auto groups = columns.first(columns.size() - 1);
    std::map<std::string, Group> by_title;
    std::uint64_t ticks = 0;
    for (const auto &[key, entry] : all.entries()) {
        by_title[key_title(key, groups, keys)].add(
            stack_functions(keys.names(), key.back().value.low), entry.total.count);
        ticks += entry.total.count;
    }
    std::vector<std::pair<std::string_view, const Group *>> order;
    for (const auto &[title, group] : by_title)
        order.emplace_back(title, &group);
    std::stable_sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
        return a.second->ticks > b.second->ticks;
    });
    for (const auto &[title, group] : order) {
        if (!title.empty())
            fmt::format_to(std::back_inserter(out), "{}{}: {} ({:.1f} %)\n",
                           group == order.front().second ? "" : "\n", title,
                           ticks_of(group->ticks), percent(group->ticks, ticks));
        append_function_ticks(out, *group, ticks, style.top.value_or(rows_shown));
    }
}

namespace {

/// What there is beside the ticks that were counted, or recorded.
void append_rest(std::string &text, const argtrace_counts &total) {
    fmt::format_to(std::back_inserter(text), ", {} filtered, {} lost", std::uint64_t{total.filtered}, lost_total(total));
    auto to = std::back_inserter(text);
    if (total.sampled > 0)
        fmt::format_to(to, ", {} sampled out", std::uint64_t{total.sampled});
    if (total.capped > 0)
        fmt::format_to(to, ", {} capped", std::uint64_t{total.capped});
    if (total.faults > 0)
        fmt::format_to(to, "; {} fault{}", std::uint64_t{total.faults}, total.faults == 1 ? "" : "s");
}

} // namespace

std::string tick_totals(const argtrace_counts &total, std::uint64_t idle) {
    std::string text =
        fmt::format("{}: {} counted, {} idle", ticks_of(hits(total)), total.records - idle, idle);
    append_rest(text, total);
    return text;
}

std::string recorded_ticks(const argtrace_counts &total) {
    std::string text = fmt::format("{}: {} recorded", ticks_of(hits(total)), std::uint64_t{total.records});
    append_rest(text, total);
    return text;
}

void append_tick_totals_json(std::string &out, const argtrace_counts &total, std::uint64_t idle) {
    fmt::format_to(std::back_inserter(out),
                   "{{\"ticks\":{},\"counted\":{},\"idle\":{},\"filtered\":{},\"sampled\":{},"
                   "\"capped\":{},\"lost\":{},\"faults\":{}}}\n",
                   hits(total), total.records - idle, idle, std::uint64_t{total.filtered},
                   std::uint64_t{total.sampled}, std::uint64_t{total.capped}, lost_total(total),
                   std::uint64_t{total.faults});
}

} // namespace argtrace
