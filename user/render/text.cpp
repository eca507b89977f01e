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
constexpr std::string_view unknown_comm = "<...>"; // as ftrace writes it

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

UnsignedWide wide(const Value &value) {
    return static_cast<UnsignedWide>(value.high) << 64 | value.low;
}

void append_char(std::string &out, unsigned char character) {
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
void append_column(std::string &out, std::string_view text, std::size_t &width) {
    width = std::max(width, text.size());
    out += text;
    out.append(width - text.size() + 1, ' ');
}

void append_column(std::string &out, std::uint32_t number, std::size_t &width) {
    fmt::format_int text(number);
    append_column(out, {text.data(), text.size()}, width);
}

} // namespace

void append_visible(std::string &out, std::string_view text) {
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

void append_pointer(std::string &out, std::uint64_t address) {
    constexpr std::uint64_t error_max = 4095; // MAX_ERRNO, include/linux/err.h
    if (-address - 1 < error_max) {
        std::string_view name = errno_name(static_cast<std::uint32_t>(-address));
        if (!name.empty()) {
            out += '-';
            out += name;
            return;
        }
    }
    fmt::format_to(std::back_inserter(out), "{:#x}", address);
}

void append_text_value(std::string &out, const Value &value) {
    auto to = std::back_inserter(out);
    if (!value.captured) {
        out += '?';
        return;
    }
    switch (value.type) {
    case ARGTRACE_TYPE_S8:
    case ARGTRACE_TYPE_S16:
    case ARGTRACE_TYPE_S32:
    case ARGTRACE_TYPE_S64:
        fmt::format_to(to, "{}", static_cast<std::int64_t>(value.low));
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
        fmt::format_to(to, "{}", wide(value));
        break;
    case ARGTRACE_TYPE_S128:
        fmt::format_to(to, "{}", static_cast<Wide>(wide(value)));
        break;
    default:
        fmt::format_to(to, "{}", value.low);
        break;
    }
}

void Widths::include(const Event &event) {
    const auto digits = [](std::uint64_t number) { return fmt::format_int(number).size(); };
    time = std::max(time, digits(event.ts / nanoseconds_per_second) + sizeof(".123456789") - 1);
    tid = std::max(tid, digits(event.tid));
    cpu = std::max(cpu, digits(event.cpu));

    std::string_view name = event.comm_view();
    const bool plain = std::all_of(name.begin(), name.end(), [](char character) {
        return character >= 0x20 && character < 0x7f;
    });
    std::string shown;
    if (!plain) {
        append_visible(shown, name);
        name = shown;
    }
    comm = std::max(comm, name.empty() ? unknown_comm.size() : name.size());
}

void Widths::include(const Widths &other) {
    time = std::max(time, other.time);
    comm = std::max(comm, other.comm);
    tid = std::max(tid, other.tid);
    cpu = std::max(cpu, other.cpu);
}

void TextRenderer::begin(std::string &out, std::uint64_t now) {
    std::size_t seconds = fmt::format_int(now / nanoseconds_per_second).size();
    widths_.time = std::max(widths_.time, seconds + sizeof(".123456789") - 1);
    if (!header_)
        return;
    append_column(out, "TIME", widths_.time);
    append_column(out, "COMM", widths_.comm);
    append_column(out, "TID", widths_.tid);
    append_column(out, "CPU", widths_.cpu);
    out += "FLAGS  FUNCTION\n";
}

void TextRenderer::event(std::string &out, const EventView &view) {
    const Event &event = *view.event;
    char time[32];
    char *end = fmt::format_to(time, "{}.{:09}", event.ts / nanoseconds_per_second,
                               event.ts % nanoseconds_per_second);
    append_column(out, {time, end}, widths_.time);

    comm_.clear();
    append_visible(comm_, event.comm_view());
    append_column(out, comm_.empty() ? unknown_comm : comm_, widths_.comm);
    append_column(out, event.tid, widths_.tid);
    append_column(out, event.cpu, widths_.cpu);
    out += flags_column(event.context, event.preempt);
    out += "   ";

    out += event.probe->function;
    if (event.probe->forced)
        out += '~';
    out += '(';
    for (std::size_t i = 0; i < view.values.size(); ++i) {
        if (i > 0)
            out += ", ";
        out += event.probe->args[i].name;
        out += '=';
        values_.append(out, view, i);
    }
    out += ')';
    if (event.caller != 0) {
        out += " <- ";
        out += callers_.name(event.caller);
    }
    out += '\n';
}

} // namespace argtrace
