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

void append_escaped(Line &out, char character) {
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

} // namespace

void append_json_string(Line &out, std::string_view text) {
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

void append_json_string(std::string &out, std::string_view text) {
    Line line;
    append_json_string(line, text);
    out += line.view();
}

void append_json_value(Line &out, const Value &value) {
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
        out.append_signed(static_cast<std::int64_t>(value.low));
    } else if (value.type == ARGTRACE_TYPE_UCHAR) {
        out.append_decimal(value.low);
    } else {
        append_text_value(out, value);
    }
}

JsonRenderer::JsonRenderer(CallerNames &callers, bool types)
    : callers_(callers), values_(callers, ValueWriter::Style::json), types_(types) {}

/// All that stands between the values, but the caller before the first one.
Plan JsonRenderer::make_plan(const Probe &probe) {
    Plan plan;
    const ProbeFormats *formats = values_.formats(probe);
    std::string head = "\",\"func\":";
    append_json_string(head, probe.function);
    if (probe.forced)
        head += ",\"forced\":true";
    plan.head = Snippet(head + ",\"caller\":");

    std::string tail = "}";
    if (types_)
        tail += ",\"types\":{";
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        std::string name = i > 0 ? "," : "";
        append_json_string(name, probe.args[i].name);
        name += ':';
        if (types_) {
            tail += name;
            append_json_string(tail, probe.args[i].type_name);
        }
        plan.arguments.push_back(
            {Snippet(std::move(name)), formats ? formats->argument(i) : nullptr});
    }
    plan.tail = Snippet(tail + (types_ ? "}}\n" : "}\n"));
    return plan;
}

Snippet JsonRenderer::make_task(const Event &event) {
    std::string text = fmt::format(",\"tid\":{},\"comm\":", event.tid);
    append_json_string(text, event.comm_view());
    return Snippet(text + ",\"flags\":\"");
}

Snippet JsonRenderer::make_caller(std::uint64_t address) {
    std::string text;
    append_json_string(text, callers_.name(address));
    return Snippet(text + ",\"args\":{");
}

void JsonRenderer::event(std::string &out, const EventView &view) {
    const Event &event = *view.event;
    const Plan &plan =
        plans_.find(*event.probe, [this](const Probe &probe) { return make_plan(probe); });

    line_.clear();
    line_ += start_;
    line_.append_decimal(event.ts);
    line_ += cpu_;
    line_.append_decimal(event.cpu);
    line_ += tasks_.find(event, [this](const Event &one) { return make_task(one); });
    line_ += flags_column(event.context, event.preempt);
    line_ += plan.head;
    if (event.caller != 0)
        line_ += recent_callers_.find(
            event.caller, [this](std::uint64_t address) { return make_caller(address); });
    else
        line_ += "null,\"args\":{";
    for (std::size_t i = 0; i < view.values.size(); ++i) {
        line_ += plan.arguments[i].before;
        values_.append(line_, view, view.values[i], plan.arguments[i].format);
    }
    line_ += plan.tail;
    out += line_.view();
}

} // namespace argtrace
