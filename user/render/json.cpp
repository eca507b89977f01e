// SPDX-License-Identifier: GPL-2.0-only
#include "render/json.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "render/flags.h"
#include "render/text.h"
#include "util/utf8.h"

namespace argtrace {

namespace {

constexpr std::string_view replacement_character = "\xef\xbf\xbd";

/// Stands in a JSON string as it is.
bool is_plain(char character) {
    return character >= 0x20 && character < 0x7f && character != '"' && character != '\\';
}

void append_escaped(std::string &out, char character) {
    switch (character) {
    case '"':
        out += "\\\"";
        break;
    case '\\':
        out += "\\\\";
        break;
    case '\n':
        out += "\\n";
        break;
    case '\t':
        out += "\\t";
        break;
    default:
        if (static_cast<unsigned char>(character) < 0x20)
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(character));
        else
            out += character;
        break;
    }
}

void append_number(std::string &out, std::uint64_t number) {
    fmt::format_int text(number);
    out.append(text.data(), text.size());
}

} // namespace

void append_json_string(std::string &out, std::string_view text) {
    out += '"';
    for (;;) {
        auto odd = std::find_if_not(text.begin(), text.end(), is_plain);
        auto plain = static_cast<std::size_t>(odd - text.begin());
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty())
            break;
        std::size_t length = utf8_length(text);
        if (length == 0) {
            out += replacement_character;
            length = 1;
        } else if (length == 1) {
            append_escaped(out, text[0]);
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    out += '"';
}

void append_json_value(std::string &out, const Value &value) {
    if (!value.captured) {
        out += "null";
    } else if (value.type == ARGTRACE_TYPE_PTR) {
        out += '"';
        append_pointer(out, value.low);
        out += '"';
    } else if (value.type == ARGTRACE_TYPE_U128 || value.type == ARGTRACE_TYPE_S128) {
        out += '"';
        append_text_value(out, value);
        out += '"';
    } else if (value.type == ARGTRACE_TYPE_CHAR) {
        fmt::format_to(std::back_inserter(out), "{}", static_cast<std::int64_t>(value.low));
    } else if (value.type == ARGTRACE_TYPE_UCHAR) {
        append_number(out, value.low);
    } else {
        append_text_value(out, value);
    }
}

void JsonRenderer::event(std::string &out, const EventView &view) {
    const Event &event = *view.event;
    const std::vector<Argument> &args = event.probe->args;

    out += "{\"ts\":";
    append_number(out, event.ts);
    out += ",\"cpu\":";
    append_number(out, event.cpu);
    out += ",\"tid\":";
    append_number(out, event.tid);
    out += ",\"comm\":";
    append_json_string(out, event.comm_view());
    out += ",\"flags\":\"";
    out += flags_column(event.context, event.preempt);
    out += "\",\"func\":";
    append_json_string(out, event.probe->function);
    if (event.probe->forced)
        out += ",\"forced\":true";
    out += ",\"caller\":";
    if (event.caller != 0)
        append_json_string(out, callers_.name(event.caller));
    else
        out += "null";

    out += ",\"args\":{";
    for (std::size_t i = 0; i < view.values.size(); ++i) {
        if (i > 0)
            out += ',';
        append_json_string(out, args[i].name);
        out += ':';
        values_.append(out, view, i);
    }
    out += '}';
    if (types_) {
        out += ",\"types\":{";
        for (std::size_t i = 0; i < args.size(); ++i) {
            if (i > 0)
                out += ',';
            append_json_string(out, args[i].name);
            out += ':';
            append_json_string(out, args[i].type_name);
        }
        out += '}';
    }
    out += "}\n";
}

} // namespace argtrace
