// SPDX-License-Identifier: GPL-2.0-only
#include "render/profile.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "render/function_counts.h"
#include "render/json.h"
#include "render/stack.h"
#include "render/stack_summary.h"

namespace argtrace {

namespace {

constexpr std::size_t rows_shown = 20;

/// Those of one group, that is of what precedes the stack in the keys.
struct Group {
    const Key *key = nullptr; ///< one that begins with what they have in common
    std::uint64_t ticks = 0;
    FunctionCounts functions;

    void add(std::span<const StackFrame> path, std::uint64_t count) {
        ticks += count;
        functions.add(path, count);
    }
};

std::string ticks_of(std::uint64_t count) {
    return fmt::format("{} tick{}", count, count == 1 ? "" : "s");
}

std::vector<FunctionCounts::Named> ordered_functions(const Group &group, const CallerNames &names) {
    std::vector<FunctionCounts::Named> order = group.functions.by_name(names);
    std::stable_sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
        return a.second.self != b.second.self ? a.second.self > b.second.self
                                              : a.second.total > b.second.total;
    });
    return order;
}

void append_function_ticks(std::string &out, const Group &group, const CallerNames &names, std::uint64_t all, std::size_t most) {
    const auto order = ordered_functions(group, names);
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

/// By title.
using Groups = std::map<std::string, Group>;

Groups groups_of(const Aggregation &all, std::span<const KeyColumn> columns, KeyText &keys, StackChoice which) {
    Groups groups;
    std::vector<StackFrame> path;
    for (const auto &[key, entry] : all.entries()) {
        Group &group = groups[key_title(key, columns, keys)];
        group.key = &key;
        path.clear();
        add_stack_frames(path, keys.names(), stacks_of(key, which));
        group.add(path, entry.total.count);
    }
    return groups;
}

/// Those with the most ticks first.
std::vector<const Groups::value_type *> ordered_groups(const Groups &groups) {
    std::vector<const Groups::value_type *> order;
    for (const Groups::value_type &group : groups)
        order.push_back(&group);
    std::stable_sort(order.begin(), order.end(), [](const auto *a, const auto *b) {
        return a->second.ticks > b->second.ticks;
    });
    return order;
}

} // namespace

void append_profile(std::string &out, const Aggregation &all, std::span<const KeyColumn> columns,
                    KeyText &keys, const AggregateStyle &style) {
    const Groups groups = groups_of(all, columns_beside(columns, style.stack), keys, style.stack);
    const std::uint64_t ticks = all.calls();
    const auto order = ordered_groups(groups);
    for (const auto *one : order) {
        const auto &[title, group] = *one;
        if (!title.empty())
            fmt::format_to(std::back_inserter(out), "{}{}: {} ({:.1f} %)\n", one == order.front() ? "" : "\n", title,
                           ticks_of(group.ticks), percent(group.ticks, ticks));
        append_function_ticks(out, group, keys.names(), ticks, style.top.value_or(rows_shown));
    }
}

void append_profile_json(std::string &out, const Aggregation &all, std::span<const KeyColumn> columns, KeyText &keys,
                         const AggregateStyle &style, std::string_view time) {
    const auto parts = columns_beside(columns, style.stack);
    const Groups groups = groups_of(all, parts, keys, style.stack);
    for (const auto *one : ordered_groups(groups)) {
        const Group &group = one->second;
        const auto order = ordered_functions(group, keys.names());
        for (std::size_t i = 0; i < std::min(order.size(), style.top.value_or(order.size())); ++i) {
            out += '{';
            if (!time.empty())
                fmt::format_to(std::back_inserter(out), "{},", time);
            append_json_key(out, *group.key, parts, keys);
            out += "\"function\":";
            append_json_string(out, order[i].first);
            fmt::format_to(std::back_inserter(out), ",\"self\":{},\"total\":{}}}\n", order[i].second.self, order[i].second.total);
        }
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
