// SPDX-License-Identifier: GPL-2.0-only
#include "render/stack_summary.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "model/call_node.h"
#include "render/flame_graph.h"
#include "render/function_counts.h"
#include "render/pprof.h"
#include "render/profile.h"
#include "render/stack.h"
#include "render/stack_flames.h"
#include "util/clock.h"

namespace argtrace {

namespace {

constexpr std::size_t functions_shown = 20;

/// What all stacks come to.
struct Summary {
    struct Stack {
        std::uint64_t kernel, user;
        std::uint32_t top; ///< the function that was called
        auto operator<=>(const Stack &) const = default;
    };

    std::uint64_t samples = 0, frames = 0;
    std::vector<Stack> stacks;
    FunctionCounts functions;
    std::vector<StackFrame> path; // of one

    void add(const Key &key, std::span<const KeyColumn> columns, KeyText &keys, StackChoice which, std::uint64_t count) {
        samples += count;
        const std::string top = top_of(key, columns, keys);
        const std::uint32_t top_number = keys.names().number(top);
        const StackValues values = stacks_of(key, which);
        path.clear();
        add_stack_frames(path, keys.names(), values);
        if (!top.empty())
            path.push_back({top_number});
        const auto number = [](const Value *stack) { return stack ? stack->low : 0; };
        stacks.push_back({number(values.kernel), number(values.user), top_number});
        frames += count * path.size();
        functions.add(path, count);
    }

    std::size_t different_stacks() {
        std::sort(stacks.begin(), stacks.end());
        return static_cast<std::size_t>(std::unique(stacks.begin(), stacks.end()) - stacks.begin());
    }
};

void append_functions(std::string &out, const Summary &summary, const CallerNames &names, std::size_t most) {
    std::vector<FunctionCounts::Named> order = summary.functions.by_name(names);
    std::stable_sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
        return a.second.total != b.second.total ? a.second.total > b.second.total
                                                : a.second.self > b.second.self;
    });
    order.resize(std::min(order.size(), most));
    auto to = std::back_inserter(out);
    fmt::format_to(to, "{:<40} {:>10} {:>6} {:>10} {:>6}\n", "FUNCTION", "SELF", "%", "TOTAL", "%");
    for (const auto &[name, count] : order)
        fmt::format_to(to, "{:<40} {:>10} {:>6.1f} {:>10} {:>6.1f}\n", name, count.self,
                       percent(count.self, summary.samples), count.total,
                       percent(count.total, summary.samples));
}

void append_folded(std::string &out, const Aggregation &all, std::span<const KeyColumn> columns,
                   KeyText &keys, const AggregateStyle &style, const DrainText &drain) {
    std::vector<StackFrame> frames;
    for (const auto *row : ordered_rows(all, style)) {
        frames.clear();
        add_folded_frames(frames, row->first, columns, keys, style.stack);
        append_folded_frames(out, frames, keys.names());
        out += ' ';
        out += fmt::format_int(row->second.total.count).c_str();
        out += '\n';
        if (!drain(out))
            return;
    }
}

void append_flame_graph(std::string &out, const Aggregation &all, std::span<const KeyColumn> columns,
                        KeyText &keys, const AggregateStyle &style, const DrainText &drain) {
    const auto rows = ordered_rows(all, style);
    StackFlames flames([&](std::uint32_t row, std::vector<StackFrame> &frames) {
        frames.clear();
        add_folded_frames(frames, rows[row]->first, columns, keys, style.stack);
    });
    for (std::uint32_t row = 0; row < rows.size(); ++row)
        flames.add(row, rows[row]->second.total.count);
    CallNode root;
    flames.build(root, keys.names());
    FlameGraph graph(style.stacks == StackForm::svg ? FlameGraph::Page::svg : FlameGraph::Page::html,
                     style.ticks ? FlameGraph::Unit::ticks : FlameGraph::Unit::calls);
    const auto beside = columns_beside(columns, style.stack);
    const auto groups = static_cast<std::size_t>(std::count_if(beside.begin(), beside.end(), is_shown_beside));
    graph.draw(root, {style.ticks ? "Where the processors were" : "Calls by their stacks", style.missing, flames.depth(), groups}, [&](std::string &piece) {
        out += piece;
        piece.clear();
        (void)drain(out);
    });
}

/// The parts of keys that are shown beside the stacks are labels.
PprofProfile::Labels labels_of(const Key &key, std::span<const KeyColumn> beside, KeyText &keys) {
    PprofProfile::Labels labels;
    for (std::size_t i = 0; i < beside.size(); ++i)
        if (is_shown_beside(beside[i]))
            labels.emplace_back(beside[i].name, keys.text(beside[i], key[i]));
    return labels;
}

void append_pprof(std::string &out, const Aggregation &all, std::span<const KeyColumn> columns, KeyText &keys, const AggregateStyle &style) {
    const PprofProfile::Kind kind{style.ticks ? "samples" : "calls", "count"};
    PprofProfile profile(keys.names(), std::span(&kind, 1));
    profile.set_time(realtime_now());
    if (!style.missing.empty())
        profile.add_comment(style.missing);
    const auto beside = columns_beside(columns, style.stack);
    std::vector<StackFrame> frames;
    for (const auto *row : ordered_rows(all, style)) {
        frames.clear();
        add_stack_frames(frames, keys.names(), stacks_of(row->first, style.stack));
        if (const std::string top = top_of(row->first, columns, keys); !top.empty())
            frames.push_back({keys.names().number(top)});
        profile.add(frames, std::span(&row->second.total.count, 1), labels_of(row->first, beside, keys));
    }
    out += profile.finish();
}

} // namespace

std::string describe(const MissingStacks &missing, std::string_view noun) {
    std::string text;
    const auto tell = [&](std::uint64_t count, std::string_view one, std::string_view several) {
        if (count > 0)
            text += fmt::format("{}{} {}{} {}", text.empty() ? "" : ", ", count, noun, count == 1 ? "" : "s", count == 1 ? one : several);
    };
    tell(missing.lost, "was lost", "were lost");
    tell(missing.without_stack, "has no stack", "have no stack");
    tell(missing.left_out, "is left out", "are left out");
    return text;
}

StackValues stacks_of(const Key &key, StackChoice which) {
    StackValues values;
    std::size_t at = key.size();
    if (which.user)
        values.user = &key[--at].value;
    if (which.kernel)
        values.kernel = &key[--at].value;
    return values;
}

std::span<const KeyColumn> columns_beside(std::span<const KeyColumn> columns, StackChoice which) {
    return columns.first(columns.size() - std::size_t{which.kernel} - std::size_t{which.user});
}

std::string top_of(const Key &key, std::span<const KeyColumn> columns, KeyText &keys) {
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i].top != KeyColumn::Top::no)
            return keys.top_frame(key[i]);
    return "";
}

void add_folded_frames(std::vector<StackFrame> &frames, const Key &key, std::span<const KeyColumn> columns, KeyText &keys, StackChoice which) {
    CallerNames &names = keys.names();
    const auto beside = columns_beside(columns, which);
    for (std::size_t i = 0; i < beside.size(); ++i)
        if (is_shown_beside(beside[i]))
            frames.push_back({names.number(frame_name(keys.text(beside[i], key[i])))});
    const std::size_t before = frames.size();
    add_stack_frames(frames, names, stacks_of(key, which));
    for (StackFrame &frame : std::span(frames).subspan(before))
        frame.name = keys.folded(frame.name);
    if (std::string top = top_of(key, columns, keys); !top.empty())
        frames.push_back({names.number(frame_name(std::move(top)))});
}

void append_folded_frames(std::string &out, std::span<const StackFrame> frames, const CallerNames &names) {
    std::size_t size = frames.size() - 1;
    for (const StackFrame &frame : frames)
        size += names.text(frame.name).size();
    const std::size_t begin = out.size();
    out.resize(begin + size);
    char *to = &out[begin];
    for (const StackFrame &frame : frames) {
        if (&frame != &frames.front())
            *to++ = ';';
        const std::string &name = names.text(frame.name);
        to = std::copy(name.begin(), name.end(), to);
    }
}

void append_stacks(std::string &out, const Aggregation &all, std::span<const KeyColumn> columns,
                   KeyText &keys, const AggregateStyle &style, const DrainText &drain) {
    if (style.stacks == StackForm::folded) {
        append_folded(out, all, columns, keys, style, drain);
        return;
    }
    if (style.stacks == StackForm::functions) {
        append_profile(out, all, columns, keys, style);
        return;
    }
    if (style.stacks == StackForm::pprof) {
        append_pprof(out, all, columns, keys, style);
        return;
    }
    if (style.stacks != StackForm::summary) {
        append_flame_graph(out, all, columns, keys, style, drain);
        return;
    }
    const std::string_view noun = style.ticks ? "tick" : "call";
    auto to = std::back_inserter(out);
    Summary summary;
    for (const auto &[key, entry] : all.entries())
        summary.add(key, columns, keys, style.stack, entry.total.count);
    const auto rows = ordered_rows(all, style);
    for (const auto *row : rows) {
        Line lines;
        if (const std::string top = top_of(row->first, columns, keys); !top.empty())
            append_frame(lines, top);
        append_call_stacks(lines, keys.names(), stacks_of(row->first, style.stack));
        out += lines.view();
        const std::uint64_t count = row->second.total.count;
        const std::string title = key_title(row->first, columns_beside(columns, style.stack), keys);
        fmt::format_to(to, "    {} {}{} ({:.1f} %){}{}\n\n", count, noun, count == 1 ? "" : "s",
                       percent(count, summary.samples), title.empty() ? "" : ", ", title);
        if (!drain(out))
            return;
    }
    if (const std::size_t more = all.entries().size() - rows.size(); more > 0)
        fmt::format_to(to, "... and {} more\n\n", more);
    if (summary.samples == 0)
        return;
    append_functions(out, summary, keys.names(), style.top.value_or(functions_shown));
    const std::size_t different = summary.different_stacks();
    const auto mean = [&summary](std::uint64_t of) {
        return static_cast<double>(summary.samples) / static_cast<double>(of);
    };
    fmt::format_to(to, "\n{} {}{}, {} different stack{}, {:.1f} {}s a stack, {:.1f} frames in the mean\n",
                   summary.samples, noun, summary.samples == 1 ? "" : "s", different,
                   different == 1 ? "" : "s", mean(different), noun,
                   static_cast<double>(summary.frames) / static_cast<double>(summary.samples));
}

} // namespace argtrace
