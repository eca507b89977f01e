// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "render/caller.h"
#include "render/line.h"
#include "render/renderer.h"
#include "render/time_text.h"
#include "render/value_writer.h"

namespace argtrace {

/// What an event can be shown by.
enum class Column { time, comm, pid, tid, cpu, flags, func, args, ret, duration, caller, stack };

/// Reads "time,func,args"; "all" is all of them. Throws Error, which begins with `what` and lists
/// them all, for a name that is none.
std::vector<Column> parse_columns(std::string_view what, std::string_view list);

/// What fits on a narrow terminal: neither CPU nor FLAGS, nor the caller.
std::vector<Column> narrow_columns();

/// "time, comm, ...": all there are.
std::string column_names();

/// Events in columns that the user has chosen, with a space between them; `args` right behind
/// `func` is written to it as in a call. A call's stack is below its line as TextRenderer has it, unless it is one of the columns.
class ColumnRenderer : public Renderer {
public:
    ColumnRenderer(CallerNames &callers, std::vector<Column> columns, bool header,
                   TimeFormat time = {}, Described which = Described::recorded)
        : callers_(callers), values_(callers, ValueWriter::Style::text, which),
          columns_(std::move(columns)), header_(header),
          stack_below_(std::find(columns_.begin(), columns_.end(), Column::stack) == columns_.end()), time_(time) {}

    void begin(std::string &out, std::uint64_t now) override;
    void widen(const Widths &widths) override { (void)widths_.include(widths); }
    void follow(std::uint64_t ts) override { time_.follow(ts); }
    using Renderer::event;
    void event(Line &out, const EventView &view) override;

private:
    std::size_t width(Column column) const;
    void append_result(const EventView &view);
    void append(Column column, const EventView &view);

    CallerNames &callers_;
    ValueWriter values_;
    std::vector<Column> columns_;
    bool header_;
    bool stack_below_;
    TimeText time_;
    Widths widths_{15, comm_width, 4, 3};
    Line line_;
};

} // namespace argtrace
