// SPDX-License-Identifier: GPL-2.0-only
#include "render/tree.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "render/call.h"
#include "render/flags.h"
#include "render/outcome.h"
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

void TreeRenderer::event(Line &out, const EventView &view) {
    const Event &event = *view.event;
    Shown shown;
    line_.clear();
    if (event.comm_view().empty())
        append_padded(line_, unknown_comm, widths_.comm);
    else {
        Line comm;
        append_visible(comm, event.comm_view());
        append_padded(line_, comm.view(), widths_.comm);
    }
    append_padded(line_, fmt::format("{}", event.tid), widths_.tid);
    append_padded(line_, fmt::format("{}", event.cpu), widths_.cpu);
    line_ += flags_column(event.context, event.preempt);
    line_ += "   ";
    shown.task = line_.view();

    line_.clear();
    line_ += event.probe->function;
    if (event.probe->forced)
        line_ += '~';
    append_call_arguments(line_, values_, view);
    shown.call = line_.view();
    if (has_result(*event.probe)) {
        line_.clear();
        line_ += " = ";
        append_result_value(line_, values_, view,
                            values_.formats(*event.probe).argument(view.values.size() - 1));
        shown.result = line_.view();
    }
    if (event.has_duration())
        shown.duration = format_duration(event.duration);
    const std::uint64_t now = event.end();
    trees_.add(event, std::move(shown));
    if (now >= next_ || trees_.calls() > calls_max) {
        append_ended(out, trees_.calls() > calls_max       ? now
                          : now > max_wait_ ? now - max_wait_ : 0);
        next_ = now + max_wait_ / 4;
    }
}

void TreeRenderer::advance(std::string &out, std::uint64_t now) {
    Line line;
    append_ended(line, now > max_wait_ ? now - max_wait_ : 0);
    out += line.view();
}

void TreeRenderer::end(std::string &out) {
    Line line;
    append_ended(line, std::numeric_limits<std::uint64_t>::max());
    out += line.view();
}

void TreeRenderer::append_ended(Line &out, std::uint64_t limit) {
    trees_.take_ended(limit, [&](const Call &call) { append(out, call, 0); });
}

void TreeRenderer::append(Line &out, const Call &call, std::size_t depth) {
    const bool leaf = call.inner.empty();
    append_columns(out, call.begin, call, leaf, depth);
    out += call.payload.call;
    if (leaf) {
        out += call.payload.result;
        out += '\n';
        return;
    }
    out += " {\n";
    for (const Call &inner : call.inner)
        append(out, inner, depth + 1);
    append_columns(out, call.end, call, true, depth);
    out += '}';
    out += call.payload.result;
    out += '\n';
}

void TreeRenderer::append_columns(Line &out, std::uint64_t time, const Call &call,
                                  bool with_duration, std::size_t depth) {
    const std::size_t before = out.size();
    time_.append(out, time);
    widths_.time = std::max(widths_.time, out.size() - before);
    out.append_spaces(widths_.time + 1 - (out.size() - before));
    out += call.payload.task;
    const std::string_view duration = with_duration ? call.payload.duration : std::string_view();
    out.append_spaces(duration_width - std::min(duration.size(), duration_width));
    out += duration;
    out.append_spaces(2 + 2 * depth);
}

} // namespace argtrace
