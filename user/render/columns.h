// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "render/caller.h"
#include "render/line.h"
#include "render/renderer.h"
#include "render/value_writer.h"

namespace argtrace {

/// What an event can be shown by.
enum class Column { time, comm, pid, tid, cpu, flags, func, args, caller };

/// Reads "time,func,args". Throws Error, which lists them all, for a name that is none.
std::vector<Column> parse_columns(std::string_view list);

/// "time, comm, ...": all there are.
std::string column_names();

/// Events in columns that the user has chosen, with a space between them; `args` right behind
/// `func` is written to it as in a call.
class ColumnRenderer : public Renderer {
public:
    ColumnRenderer(CallerNames &callers, std::vector<Column> columns, bool header)
        : callers_(callers), values_(callers, ValueWriter::Style::text),
          columns_(std::move(columns)), header_(header) {}

    void begin(std::string &out, std::uint64_t now) override;
    void widen(const Widths &widths) override { (void)widths_.include(widths); }
    using Renderer::event;
    void event(Line &out, const EventView &view) override;

private:
    std::size_t width(Column column) const;
    void append_arguments(const EventView &view);
    void append(Column column, const EventView &view);

    CallerNames &callers_;
    ValueWriter values_;
    std::vector<Column> columns_;
    bool header_;
    Widths widths_{15, 10, 4, 3};
    Line line_;
};

} // namespace argtrace
