// SPDX-License-Identifier: GPL-2.0-only
#include "render/text.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "model/type.h"
#include "render/call.h"
#include "render/change.h"
#include "render/common_value.h"
#include "render/flags.h"
#include "render/floating_text.h"
#include "render/meaning.h"
#include "render/outcome.h"
#include "render/stack.h"
#include "util/errno_name.h"
#include "util/nanoseconds.h"
#include "util/visible.h"

namespace argtrace {

namespace {

constexpr std::size_t fraction_width = sizeof(".123456789") - 1;
constexpr std::size_t cpu_size_max = decimal_size_max;

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

UnsignedWide wide(const Value &value) {
    return static_cast<UnsignedWide>(value.high) << 64 | value.low;
}

void append_char(Line &out, unsigned char character) {
    switch (character) {
    case '\0':
        out += "'\\0'";
        return;
    case '\t':
        out += "'\\t'";
        return;
    case '\n':
        out += "'\\n'";
        return;
    case '\r':
        out += "'\\r'";
        return;
    case '\\':
        out += "'\\\\'";
        return;
    case '\'':
        out += "'\\''";
        return;
    default:
        break;
    }
    if (character < 0x20 || character >= 0x7f)
        fmt::format_to(std::back_inserter(out), "'\\x{:02x}'", character);
    else
        fmt::format_to(std::back_inserter(out), "'{}'", static_cast<char>(character));
}

/// Appends in a column and one space, which grows if need be.
void append_column(Line &out, std::string_view text, std::size_t &width) {
    width = std::max(width, text.size());
    out += text;
    out.append_spaces(width - text.size() + 1);
}

void append_column(Line &out, std::uint32_t number, std::size_t &width) {
    const std::size_t before = out.view().size();
    out.append_decimal(number);
    const std::size_t size = out.view().size() - before;
    width = std::max(width, size);
    out.append_spaces(width - size + 1);
}

} // namespace

void append_visible(Line &out, std::string_view text) {
    write_visible(out, text);
}

void append_pointer(Line &out, std::uint64_t address) {
    const std::string_view name = is_error_pointer(address)
                                      ? errno_name(static_cast<std::uint32_t>(-address))
                                      : std::string_view();
    if (name.empty()) {
        out.append_hex(address);
    } else {
        out += '-';
        out += name;
    }
}

void append_text_value(Line &out, const Value &value) {
    if (char *end = write_common_value(out.reserve(common_value_size_max), value)) {
        out.set_end(end);
        return;
    }
    if (!value.captured) {
        out += '?';
        return;
    }
    const TypeInfo &type = type_info(value.type);
    if (type.type_class == TypeClass::character)
        append_char(out, static_cast<unsigned char>(value.low));
    else if (type.type_class == TypeClass::address)
        append_pointer(out, value.low);
    else if (type.type_class == TypeClass::floating)
        out += floating_text(value);
    else if (type.is_wide() && type.is_signed)
        fmt::format_to(std::back_inserter(out), "{}", static_cast<Wide>(wide(value)));
    else if (type.is_wide())
        fmt::format_to(std::back_inserter(out), "{}", wide(value));
    else // of a type that this version does not know
        out.append_decimal(value.low);
}

TextRenderer::TextRenderer(CallerNames &callers, bool header, TimeFormat time, Described which)
    : callers_(callers), values_(callers, ValueWriter::Style::text, which), header_(header),
      time_(time) {}

/// All that stands between the values, from the function's name on.
Plan TextRenderer::make_plan(const Probe &probe) {
    Plan plan;
    const ProbeFormats &formats = values_.formats(probe);
    const ProbeParts &parts = values_.parts(probe);
    plan.head = Snippet(fmt::format("   {}{}(", probe.function, probe.forced ? "~" : ""));
    plan.described = values_.described(probe);
    plan.returns = records_returns(probe);
    plan.has_caller = &kind_of(probe) != &syscall_kind;
    plan.has_result = has_result(probe);
    if (plan.has_result)
        plan.result = formats.argument(probe.args.size() - 1);
    plan.stacks = parts.stacks;
    for (std::size_t i = 0; i < parts.shown; ++i)
        plan.arguments.push_back({i > 0 ? parts.next_names[i] : parts.names[i], formats.argument(i), parts.meanings[i], parts.changes[i]});
    plan.measure(common_value_size_max);
    return plan;
}

void TextRenderer::begin(std::string &out, std::uint64_t now) {
    widths_.time = std::max(widths_.time, time_.width(now));
    if (!header_)
        return;
    Line line;
    append_column(line, "TIME", widths_.time);
    append_column(line, "COMM", widths_.comm);
    append_column(line, "TID", widths_.tid);
    append_column(line, "CPU", widths_.cpu);
    line += "FLAGS  FUNCTION\n";
    out += line.view();
}

void TextRenderer::widen(const Widths &widths) {
    if (widths_.include(widths))
        tasks_.forget();
}

/// Prepares the second that `ts` lies in.
void TextRenderer::enter_second(std::uint64_t ts) {
    second_ = ts - ts % nanoseconds_per_second;
    seconds_ = Snippet(fmt::format("{}.", second_ / nanoseconds_per_second));
    widths_.time = std::max(widths_.time, seconds_.view().size() + fraction_width - 1);
}

/// The column, of a style that is no matter of seconds_.
void TextRenderer::append_other_time(Line &out, std::uint64_t ts) {
    const std::size_t before = out.size();
    time_.append(out, ts);
    widths_.time = std::max(widths_.time, out.size() - before);
    out.append_spaces(widths_.time + 1 - (out.size() - before));
}

/// Both columns. All that were made before are forgotten when one becomes wider.
Snippet TextRenderer::make_task(const Event &event) {
    const Widths before = widths_;
    Line comm, columns;
    append_visible(comm, event.comm_view());
    append_column(columns, comm.view().empty() ? unknown_comm : comm.view(), widths_.comm);
    append_column(columns, event.tid, widths_.tid);
    if (widths_.comm != before.comm || widths_.tid != before.tid)
        tasks_.forget();
    return Snippet(std::string(columns.view()));
}

void TextRenderer::event(Line &out, const EventView &view) {
    const Event &event = *view.event;
    const Plan &plan =
        plans_.find(*event.probe, [this](const Probe &probe) { return make_plan(probe); });
    const Snippet &task = tasks_.find(event, [this](const Event &one) { return make_task(one); });
    const bool seconds = time_.style() == TimeStyle::mono;
    if (!seconds)
        append_other_time(out, event.ts);
    else if (event.ts < second_ || event.ts - second_ >= nanoseconds_per_second) [[unlikely]]
        enter_second(event.ts);
    const Snippet *caller = &no_caller_;
    const bool has_caller = event.caller != 0 && plan.has_caller;
    if (has_caller)
        caller = &recent_callers_.find(event.caller_place(), [this](CodePlace place) {
            return Snippet(" <- " + callers_.name(place) + '\n');
        });

    const std::size_t rest_max = plan.size_max + caller->view().size();
    char *to = out.reserve(widths_.time + task.view().size() + cpu_size_max + widths_.cpu +
                           sizeof(FlagsColumn) + rest_max);
    const char *column = to;
    if (seconds) {
        to = seconds_.write(to);
        to = write_nanoseconds(to, static_cast<std::uint32_t>(event.ts - second_));
        to = Line::write_spaces(to, widths_.time + 1 - static_cast<std::size_t>(to - column));
    }
    to = task.write(to);
    column = to;
    to = write_decimal(to, event.cpu);
    widths_.cpu = std::max(widths_.cpu, static_cast<std::size_t>(to - column));
    to = Line::write_spaces(to, widths_.cpu + 1 - static_cast<std::size_t>(to - column));
    const FlagsColumn flags = flags_column(event.context, event.preempt);
    std::memcpy(to, flags.text.data(), sizeof(flags));
    to = plan.head.write(to + sizeof(flags));

    if (plan.described) [[unlikely]] {
        out.set_end(to);
        append_arguments(out, values_, view);
        to = out.reserve(rest_max);
    }
    for (std::size_t i = 0; !plan.described && i < plan.arguments.size(); ++i) {
        const Plan::Argument &argument = plan.arguments[i];
        to = argument.before.write(to);
        const bool common = !argument.format && argument.meanings == 0 && !argument.changes;
        char *end = common ? write_common_value(to, view.values[i]) : nullptr;
        if (!end) [[unlikely]] {
            out.set_end(to);
            if (argument.changes)
                append_change(out, values_, view, values_.formats(*event.probe), i++);
            else if (argument.meanings == 0)
                values_.append(out, view, view.values[i], argument.format);
            else
                append_with_meaning(out, values_, view, values_.formats(*event.probe), i);
            end = out.reserve(rest_max);
            i += argument.meanings;
        }
        to = end;
    }
    *to++ = ')';
    if (plan.returns) [[unlikely]] {
        out.set_end(to);
        append_outcome(out, values_, view, plan.has_result, plan.result, plan.described);
        to = out.reserve(caller->view().size());
    }
    out.set_end(caller->write(to));
    if (plan.stacks.any()) [[unlikely]]
        append_call_stacks(out, callers_, StackValues::of(view, plan.stacks));
}

} // namespace argtrace
