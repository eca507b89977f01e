// SPDX-License-Identifier: GPL-2.0-only
#include "render/columns.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "render/call.h"
#include "render/flags.h"
#include "render/outcome.h"
#include "render/stack.h"
#include "render/text.h"
#include "util/error.h"
#include "util/near_match.h"
#include "util/units.h"

namespace argtrace {

namespace {

constexpr std::array<std::string_view, 12> names{
    "time", "comm", "pid", "tid", "cpu", "flags", "func", "args", "ret", "duration", "caller", "stack"};
constexpr std::array<std::string_view, names.size()> titles{
    "TIME", "COMM", "PID", "TID", "CPU", "FLAGS", "FUNC", "ARGS", "RET", "DURATION", "CALLER", "STACK"};

constexpr std::array<Column, names.size()> all_columns{
    Column::time, Column::comm, Column::pid, Column::tid,      Column::cpu,   Column::flags,
    Column::func, Column::args, Column::ret, Column::duration, Column::caller, Column::stack};

} // namespace

std::vector<Column> narrow_columns() {
    return {Column::time, Column::comm, Column::tid, Column::func, Column::args};
}

std::string column_names() {
    return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<Column> parse_columns(std::string_view what, std::string_view list) {
    if (list == "all")
        return {all_columns.begin(), all_columns.end()};
    std::vector<Column> columns;
    for (;;) {
        const std::size_t end = std::min(list.find(','), list.size());
        const std::string_view word = list.substr(0, end);
        const auto found = std::find(names.begin(), names.end(), word);
        if (found == names.end()) {
            const std::string_view near = near_match(word, std::vector(names.begin(), names.end()));
            throw Error(fmt::format("{}: there is no column '{}'{}; the columns are {}", what, word,
                                    near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                                    column_names()));
        }
        columns.push_back(static_cast<Column>(found - names.begin()));
        if (end == list.size())
            return columns;
        list.remove_prefix(end + 1);
    }
}

/// 0: as wide as what stands there.
std::size_t ColumnRenderer::width(Column column) const {
    switch (column) {
    case Column::time:
        return widths_.time;
    case Column::comm:
        return widths_.comm;
    case Column::pid:
    case Column::tid:
        return widths_.tid;
    case Column::cpu:
        return widths_.cpu;
    case Column::flags:
        return titles[static_cast<std::size_t>(Column::flags)].size();
    default:
        return 0;
    }
}

void ColumnRenderer::begin(std::string &out, std::uint64_t now) {
    widths_.include(Widths{time_.width(now), 0, 0, 0});
    if (!header_)
        return;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (i > 0)
            out += ' ';
        const bool last = i + 1 == columns_.size();
        fmt::format_to(std::back_inserter(out), "{:{}}",
                       titles[static_cast<std::size_t>(columns_[i])],
                       last ? 0 : width(columns_[i]));
    }
    out += '\n';
}

void ColumnRenderer::event(Line &out, const EventView &view) {
    line_.clear();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const bool call = columns_[i] == Column::args && i > 0 && columns_[i - 1] == Column::func;
        if (i > 0 && !call)
            line_ += ' ';
        const std::size_t before = line_.view().size();
        append(columns_[i], view);
        const std::size_t taken = line_.view().size() - before;
        if (i + 1 < columns_.size() && taken < width(columns_[i]))
            line_.append_spaces(width(columns_[i]) - taken);
    }
    line_ += '\n';
    if (const StackPlaces stacks = stack_below_ ? stack_places(*view.event->probe) : StackPlaces(); stacks.any())
        append_call_stacks(line_, callers_, StackValues::of(view, stacks));
    out += line_.view();
}

void ColumnRenderer::append(Column column, const EventView &view) {
    const Event &event = *view.event;
    switch (column) {
    case Column::time:
        time_.append(line_, event.ts);
        break;
    case Column::comm:
        if (event.comm_view().empty())
            line_ += unknown_comm;
        append_visible(line_, event.comm_view());
        break;
    case Column::pid:
        line_.append_decimal(event.tgid);
        break;
    case Column::tid:
        line_.append_decimal(event.tid);
        break;
    case Column::cpu:
        line_.append_decimal(event.cpu);
        break;
    case Column::flags:
        line_ += flags_column(event.context, event.preempt);
        break;
    case Column::func:
        line_ += event.probe->function;
        if (event.probe->forced)
            line_ += '~';
        break;
    case Column::args:
        append_call_arguments(line_, values_, view);
        break;
    case Column::ret:
        append_result(view);
        break;
    case Column::duration:
        line_ += event.has_duration() ? format_duration(event.duration) : event.left ? "left" : "-";
        break;
    case Column::caller:
        line_ += event.caller != 0 ? std::string_view(callers_.name(event.caller_place())) : "-";
        break;
    case Column::stack:
        if (const StackPlaces stacks = stack_places(*event.probe); stacks.any())
            line_ += stacks_in_line(callers_, StackValues::of(view, stacks));
        else
            line_ += '-';
        break;
    }
}

void ColumnRenderer::append_result(const EventView &view) {
    const Probe &probe = *view.event->probe;
    if (has_result(probe))
        append_result_value(line_, values_, view,
                            values_.formats(probe).argument(probe.args.size() - 1), values_.described(probe));
    else
        line_ += '-';
}

} // namespace argtrace
