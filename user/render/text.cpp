// SPDX-License-Identifier: GPL-2.0-only
#include "render/text.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "render/flags.h"
#include "util/errno_name.h"
#include "util/utf8.h"

namespace argtrace {

namespace {

constexpr std::uint64_t nanoseconds_per_second = 1000000000;
constexpr std::size_t fraction_width = sizeof(".123456789") - 1;
constexpr std::string_view unknown_comm = "<...>"; // as ftrace writes it

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
    while (!text.empty()) {
        std::size_t length = utf8_length(text);
        auto first = static_cast<unsigned char>(text[0]);
        bool control = first < 0x20 || first == 0x7f ||
                       (first == 0xc2 && length == 2 && static_cast<unsigned char>(text[1]) < 0xa0);
        if (length == 0 || control) {
            length = std::max<std::size_t>(length, 1);
            for (unsigned char byte : text.substr(0, length))
                fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
}

void append_pointer(Line &out, std::uint64_t address) {
    constexpr std::uint64_t error_max = 4095; // MAX_ERRNO, include/linux/err.h
    if (-address - 1 < error_max) {
        std::string_view name = errno_name(static_cast<std::uint32_t>(-address));
        if (!name.empty()) {
            out += '-';
            out += name;
            return;
        }
    }
    out.append_hex(address);
}

void append_text_value(Line &out, const Value &value) {
    if (!value.captured) {
        out += '?';
        return;
    }
    switch (value.type) {
    case ARGTRACE_TYPE_S8:
    case ARGTRACE_TYPE_S16:
    case ARGTRACE_TYPE_S32:
    case ARGTRACE_TYPE_S64:
        out.append_signed(static_cast<std::int64_t>(value.low));
        break;
    case ARGTRACE_TYPE_BOOL:
        out += value.low ? "true" : "false";
        break;
    case ARGTRACE_TYPE_CHAR:
    case ARGTRACE_TYPE_UCHAR:
        append_char(out, static_cast<unsigned char>(value.low));
        break;
    case ARGTRACE_TYPE_PTR:
        append_pointer(out, value.low);
        break;
    case ARGTRACE_TYPE_U128:
        fmt::format_to(std::back_inserter(out), "{}", wide(value));
        break;
    case ARGTRACE_TYPE_S128:
        fmt::format_to(std::back_inserter(out), "{}", static_cast<Wide>(wide(value)));
        break;
    default:
        out.append_decimal(value.low);
        break;
    }
}

TextRenderer::TextRenderer(CallerNames &callers, bool header)
    : callers_(callers), values_(callers, ValueWriter::Style::text), header_(header) {}

/// All that stands between the values, from the function's name on.
Plan TextRenderer::make_plan(const Probe &probe) {
    Plan plan;
    const ProbeFormats *formats = values_.formats(probe);
    plan.head = Snippet(fmt::format("   {}{}(", probe.function, probe.forced ? "~" : ""));
    for (std::size_t i = 0; i < probe.args.size(); ++i)
        plan.arguments.push_back(
            {Snippet(fmt::format("{}{}=", i > 0 ? ", " : "", probe.args[i].name)),
             formats ? formats->argument(i) : nullptr});
    return plan;
}

void TextRenderer::begin(std::string &out, std::uint64_t now) {
    std::size_t seconds = fmt::format_int(now / nanoseconds_per_second).size();
    widths_.time = std::max(widths_.time, seconds + fraction_width);
    if (!header_)
        return;
    line_.clear();
    append_column(line_, "TIME", widths_.time);
    append_column(line_, "COMM", widths_.comm);
    append_column(line_, "TID", widths_.tid);
    append_column(line_, "CPU", widths_.cpu);
    line_ += "FLAGS  FUNCTION\n";
    out += line_.view();
}

void TextRenderer::append_time(std::uint64_t ts) {
    if (ts < second_ || ts - second_ >= nanoseconds_per_second) [[unlikely]] {
        second_ = ts - ts % nanoseconds_per_second;
        seconds_ = Snippet(fmt::format("{}.", second_ / nanoseconds_per_second));
    }
    const std::size_t size = seconds_.view().size() + fraction_width - 1;
    widths_.time = std::max(widths_.time, size);
    line_ += seconds_;
    line_.append_nanoseconds(static_cast<std::uint32_t>(ts - second_));
    line_.append_spaces(widths_.time - size + 1);
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

void TextRenderer::event(std::string &out, const EventView &view) {
    const Event &event = *view.event;
    const Plan &plan =
        plans_.find(*event.probe, [this](const Probe &probe) { return make_plan(probe); });
    line_.clear();
    append_time(event.ts);
    line_ += tasks_.find(event, [this](const Event &one) { return make_task(one); });
    append_column(line_, event.cpu, widths_.cpu);
    line_ += flags_column(event.context, event.preempt);

    line_ += plan.head;
    for (std::size_t i = 0; i < view.values.size(); ++i) {
        const Plan::Argument &argument = plan.arguments[i];
        const Value &value = view.values[i];
        line_ += argument.before;
        if (argument.format || value.type == ARGTRACE_TYPE_BYTES)
            values_.append(line_, view, value, argument.format);
        else
            append_text_value(line_, value);
    }
    line_ += ')';
    if (event.caller != 0)
        line_ += recent_callers_.find(event.caller, [this](std::uint64_t address) {
            return Snippet(" <- " + callers_.name(address));
        });
    line_ += '\n';
    out += line_.view();
}

} // namespace argtrace
