// SPDX-License-Identifier: GPL-2.0-only
#include "render/tree.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/unfinished.h"
#include "render/call.h"
#include "render/flags.h"
#include "render/outcome.h"
#include "render/stack.h"
#include "render/text.h"
#include "util/units.h"

namespace argtrace {

namespace {

constexpr std::size_t duration_width = 8;
constexpr std::size_t calls_max = 1 << 20; // that wait: some 300 MiB

void append_padded(Line &out, std::string_view text, std::size_t width) {
    out += text;
    out.append_spaces(std::max(width, text.size()) - text.size() + 1);
}

} // namespace

void TreeRenderer::begin(std::string &out, std::uint64_t now) {
    widths_.time = std::max(widths_.time, time_.width(now));
    if (header_)
        fmt::format_to(std::back_inserter(out), "{:<{}} {:<{}} {:<{}} {:<{}} FLAGS  {:>{}}  FUNCTION\n",
                       "TIME", widths_.time, "COMM", widths_.comm, "TID", widths_.tid, "CPU",
                       widths_.cpu, "DURATION", duration_width);
}

/// The columns COMM to FLAGS.
void TreeRenderer::append_task(const Event &event) {
    if (event.comm_view().empty())
        append_padded(line_, unknown_comm, widths_.comm);
    else {
        Line comm;
        append_visible(comm, event.comm_view());
        append_padded(line_, comm.view(), widths_.comm);
    }
    append_padded(line_, fmt::format("{}", event.tid), widths_.tid);
    // On which CPU a call began that still runs is not known.
    append_padded(line_, is_unfinished(event) ? "-" : fmt::format("{}", event.cpu), widths_.cpu);
    line_ += flags_column(event.context, event.preempt);
    line_ += "   ";
}

TreeRenderer::Shown TreeRenderer::show(const EventView &view) {
    const Event &event = *view.event;
    Shown shown;
    shown.probe = event.probe;
    line_.clear();
    append_task(event);
    shown.task = line_.view();

    line_.clear();
    line_ += event.probe->function;
    if (event.probe->forced)
        line_ += '~';
    if (is_unfinished(event))
        append_registers(view);
    else
        append_call_arguments(line_, values_, view);
    shown.call = line_.view();
    if (has_result(*event.probe) && records_returns(*event.probe) && !is_unfinished(event)) {
        line_.clear();
        line_ += " = ";
        append_result_value(line_, values_, view,
                            values_.formats(*event.probe).argument(view.values.size() - 1), values_.described(*event.probe));
        shown.result = line_.view();
    }
    if (event.has_duration())
        shown.duration = format_duration(event.duration);
    else if (event.left)
        shown.duration = "left";
    if (!is_unfinished(event)) {
        const StackPlaces stacks = stack_places(*event.probe);
        if (stacks.kernel)
            shown.stack = view.values[*stacks.kernel];
        if (stacks.user)
            shown.user_stack = view.values[*stacks.user];
    }
    return shown;
}

/// The arguments of a call that still runs, as far as they are known.
void TreeRenderer::append_registers(const EventView &view) {
    const Probe &probe = *view.event->probe;
    std::string_view separator = "(";
    bool all = true;
    for (std::size_t i = 0; i < shown_arguments(probe); ++i) {
        all = all && view.values[i].captured;
        if (!view.values[i].captured)
            continue;
        line_ += separator;
        line_ += probe.args[i].name;
        line_ += '=';
        values_.append(line_, view, view.values[i], values_.formats(probe).argument(i));
        separator = ", ";
    }
    if (!all)
        line_ += separator == "(" ? "(..." : ", ...";
    else if (separator == "(")
        line_ += '(';
    line_ += ')';
}

/// Calls of one thread are within each other, or those of one goroutine, which may be in several threads, as one thread may have several.
std::uint64_t TreeRenderer::task_of(const EventView &view) {
    const Event &event = *view.event;
    const auto [known, is_new] = goroutine_values_.try_emplace(event.probe);
    if (is_new)
        known->second = goroutine_value(*event.probe);
    if (!known->second || !view.values[*known->second].captured || view.values[*known->second].low == 0)
        return event.task();
    constexpr std::uint64_t is_goroutine = std::uint64_t{1} << 63;
    constexpr unsigned goroutine_bits = 40;
    return is_goroutine | std::uint64_t{event.tgid} << goroutine_bits | (view.values[*known->second].low & ((std::uint64_t{1} << goroutine_bits) - 1));
}

void TreeRenderer::event(Line &out, const EventView &view) {
    const std::uint64_t now = view.event->end();
    trees_.add(*view.event, task_of(view), show(view));
    if (trees_.calls() > calls_max) {
        append_ended(out, now);
    } else if (now >= next_ && !expects_running_) {
        append_ended(out, now > max_wait_ ? now - max_wait_ : 0);
        next_ = now + max_wait_ / 4;
    }
}

void TreeRenderer::advance(std::string &out, std::uint64_t now) {
    if (expects_running_)
        return;
    Line line;
    append_ended(line, now > max_wait_ ? now - max_wait_ : 0);
    out += line.view();
}

void TreeRenderer::end(std::string &out) {
    Line line;
    append_ended(line, std::numeric_limits<std::uint64_t>::max());
    out += line.view();
}

bool TreeRenderer::expect_running() {
    expects_running_ = true;
    return true;
}

/// Whether a call that was running has returned since: it has been recorded, or one around it.
bool TreeRenderer::has_returned(std::uint64_t task, const OpenCall &open) const {
    const auto trees = trees_.of_task(task);
    return std::any_of(trees.begin(), trees.end(), [&](const Call &call) {
        return call.clock > open.clock && (beginning(call) < open.clock || open.is(call.payload.probe, beginning(call)));
    });
}

/// It has neither been shown as running nor been recorded.
bool TreeRenderer::is_news(const Event &event) const {
    return !open_.has(event.task(), event.clock) && !has_returned(event.task(), OpenCall(event));
}

/// From which call on that has not been shown, by task, nothing is known for sure that is in it: it has not run for long, or it runs no
/// more and its record has not come yet.
std::map<std::uint64_t, std::uint64_t> TreeRenderer::undecided(const RunningCalls &running, const KnownCalls &now) const {
    std::map<std::uint64_t, std::uint64_t> calls;
    const auto note = [&](const Event &event) {
        const auto [place, is_new] = calls.emplace(event.task(), event.clock);
        place->second = std::min(place->second, event.clock);
    };
    for (const Event &event : running.batch.events)
        if ((running.ns < event.ts || running.ns - event.ts < max_wait_) && is_news(event))
            note(event);
    for (const Event &event : running_.batch.events)
        if (!now.contains({event.task(), event.clock}) && is_news(event))
            note(event);
    return calls;
}

/// Shows what is known to be in the calls that run, or in none of them: what had been recorded when they were looked for before.
void TreeRenderer::still_running(std::string &out, const RunningCalls &running, bool last) {
    const std::uint64_t before = std::exchange(running_.clock, running.clock);
    running_.mult = running.mult;
    KnownCalls now;
    for (const Event &event : running.batch.events)
        now.emplace(event.task(), event.clock);
    const auto waiting = last ? std::map<std::uint64_t, std::uint64_t>() : undecided(running, now);
    const auto is_decided = [&](std::uint64_t task, std::uint64_t clock) {
        const auto call = waiting.find(task);
        return call == waiting.end() || clock < call->second;
    };
    std::vector<Item> items;
    for (const Event &event : running.batch.events)
        if (is_decided(event.task(), event.clock) && is_news(event))
            items.push_back({event.task(), {event.ts, event.ts, event.clock, show(running.batch.view(event))}, OpenCall(event)});
    trees_.take_while(
        [&](std::uint64_t task, const Call &call) { return last || (call.clock <= before && is_decided(task, call.clock)); },
        [&](std::uint64_t task, Call call) { items.push_back({task, std::move(call), std::nullopt}); });
    // A task does one thing at a time: what it did before a call began, began before.
    std::stable_sort(items.begin(), items.end(), [](const Item &a, const Item &b) { return a.call.begin < b.call.begin; });
    Line line;
    for (const Item &item : items) {
        if (item.open)
            append_open(line, item);
        else
            append_tree(line, item.task, item.call);
    }
    open_.forget_unless([&](std::uint64_t task, const OpenCall &open) {
        return now.contains({task, open.clock}) || has_returned(task, open);
    });
    running_ = running;
    out += line.view();
}

void TreeRenderer::append_ended(Line &out, std::uint64_t limit) {
    trees_.take_while([limit](std::uint64_t, const Call &call) { return call.end < limit; },
                      [&](std::uint64_t task, const Call &call) { append_tree(out, task, call); });
}

/// One that is in calls that still run, or one of these that has returned.
void TreeRenderer::append_tree(Line &out, std::uint64_t task, const Call &call) {
    const auto open = open_.find(task, call.payload.probe, beginning(call));
    if (!open)
        return append(out, call, open_.depth(task, call.clock));
    for (const Call &inner : call.inner)
        append_tree(out, task, inner);
    append_closing(out, call, *open, true);
    open_.close(task, *open);
}

void TreeRenderer::append_open(Line &out, const Item &item) {
    append_columns(out, item.call.begin, item.call, "running", open_.depth(item.task, item.call.clock));
    out += item.call.payload.call;
    out += " {\n";
    open_.open(item.task, *item.open);
}

void TreeRenderer::append(Line &out, const Call &call, std::size_t depth) {
    const bool leaf = call.inner.empty();
    append_columns(out, call.begin, call, leaf ? std::string_view(call.payload.duration) : std::string_view(), depth);
    out += call.payload.call;
    if (leaf) {
        out += call.payload.result;
        out += '\n';
        append_stack_of(out, call);
        return;
    }
    out += " {\n";
    append_stack_of(out, call);
    for (const Call &inner : call.inner)
        append(out, inner, depth + 1);
    append_closing(out, call, depth, false);
}

/// `reopened`: other calls may have been shown since its beginning was.
void TreeRenderer::append_closing(Line &out, const Call &call, std::size_t depth, bool reopened) {
    append_columns(out, call.end, call, call.payload.duration, depth);
    out += '}';
    if (reopened) {
        out += ' ';
        out += call.payload.call;
    }
    out += call.payload.result;
    out += '\n';
    if (reopened)
        append_stack_of(out, call);
}

void TreeRenderer::append_stack_of(Line &out, const Call &call) {
    const auto &[stack, user_stack] = std::tie(call.payload.stack, call.payload.user_stack);
    if (stack || user_stack)
        append_call_stacks(out, callers_, {stack ? &*stack : nullptr, user_stack ? &*user_stack : nullptr});
}

void TreeRenderer::append_columns(Line &out, std::uint64_t time, const Call &call,
                                  std::string_view duration, std::size_t depth) {
    const std::size_t before = out.size();
    time_.append(out, time);
    widths_.time = std::max(widths_.time, out.size() - before);
    out.append_spaces(widths_.time + 1 - (out.size() - before));
    out += call.payload.task;
    out.append_spaces(duration_width - std::min(duration.size(), duration_width));
    out += duration;
    out.append_spaces(2 + 2 * depth);
}

} // namespace argtrace
