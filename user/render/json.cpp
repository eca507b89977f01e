// SPDX-License-Identifier: GPL-2.0-only
#include "render/json.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "model/type.h"
#include "render/common_value.h"
#include "render/flags.h"
#include "render/floating_text.h"
#include "render/meaning.h"
#include "render/outcome.h"
#include "render/stack.h"
#include "render/text.h"
#include "util/utf8.h"

namespace argtrace {

namespace {

constexpr std::size_t end_size = sizeof("}\n") - 1;
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
    if (char *end = write_common_json(out.reserve(common_json_size_max), value)) {
        out.set_end(end);
        return;
    }
    const TypeInfo &type = type_info(value.type);
    if (!value.captured) {
        out += "null";
    } else if (type.type_class == TypeClass::character) {
        if (type.is_signed)
            out.append_signed(static_cast<std::int64_t>(value.low));
        else
            out.append_decimal(value.low);
    } else if (type.type_class == TypeClass::address || type.is_wide() ||
               (type.type_class == TypeClass::floating && !is_finite(value))) {
        out += '"';
        append_text_value(out, value);
        out += '"';
    } else {
        append_text_value(out, value);
    }
}

JsonRenderer::JsonRenderer(CallerNames &callers, bool types)
    : callers_(callers), values_(callers, ValueWriter::Style::json), types_(types) {}

/// All that stands between the values, but the caller before the first one.
Plan JsonRenderer::make_plan(const Probe &probe) {
    Plan plan;
    const ProbeFormats &formats = values_.formats(probe);
    std::string head = "\",\"func\":";
    append_json_string(head, probe.function);
    if (const std::string module = callers_.module(code_place(probe)); !module.empty()) {
        head += ",\"module\":";
        append_json_string(head, module);
    }
    if (probe.forced)
        head += ",\"forced\":true";
    plan.head = Snippet(head + ",\"caller\":");

    std::string tail = "}";
    if (types_)
        tail += ",\"types\":{";
    plan.described = values_.described(probe);
    plan.returns = records_returns(probe);
    plan.has_result = has_result(probe);
    if (plan.has_result)
        plan.result = formats.argument(probe.args.size() - 1);
    plan.stacks = stack_places(probe);
    const std::size_t arguments = shown_arguments(probe);
    bool is_first = true;
    for (std::size_t i = 0; i < arguments; ++i) {
        const bool is_head = formats.are_of_go() && probe.args[i].loc == ARGTRACE_LOC_NONE && count_meanings(probe, i) > 0;
        std::string name = is_first ? "" : ",";
        is_first = is_first && is_head;
        append_json_string(name, probe.args[i].name);
        name += ':';
        if (types_ && !is_head) {
            tail += name;
            append_json_string(tail, probe.args[i].type_name);
        }
        plan.arguments.push_back(
            {Snippet(std::move(name)), formats.argument(i)});
        plan.arguments.back().is_hidden = is_head;
        plan.arguments.back().may_be_absent = i > 0 && plan.described && plan.described->is_syscall() &&
                                              probe.args[i].loc == ARGTRACE_LOC_PROGRAM && probe.args[i].name.find('.') != std::string::npos;
    }
    plan.tail = Snippet(tail + (types_ ? "}}\n" : "}\n"));
    plan.measure(common_json_size_max);
    return plan;
}

Snippet JsonRenderer::make_task(const Event &event) {
    // The idle task alone is in a process of the number 0.
    const std::string pid =
        event.tgid != 0 || event.tid == 0 ? fmt::format("{}", event.tgid) : "null";
    std::string text = fmt::format(",\"pid\":{},\"tid\":{},\"comm\":", pid, event.tid);
    append_json_string(text, event.comm_view());
    return Snippet(text + ",\"flags\":\"");
}

Snippet JsonRenderer::make_caller(CodePlace place) {
    std::string text;
    if (const std::string &name = callers_.name(place); name == CallerNames::unknown)
        text = "null";
    else
        append_json_string(text, name);
    return Snippet(text + ",\"args\":{");
}

/// To an event that is there but for its end.
void JsonRenderer::append_cut(Line &out, const EventView &view) {
    std::string_view separator;
    out += ",\"cut\":[";
    for (std::size_t i = 0; i < view.values.size(); ++i) {
        if (!view.values[i].cut)
            continue;
        out += separator;
        separator = ",";
        append_json_string(out, view.event->probe->args[i].name);
    }
    out += ']';
}

/// A value with its name beside it: "flags":524288,"flags.text":"O_RDONLY|O_CLOEXEC".
void JsonRenderer::append_described(Line &out, const EventView &view, const Plan &plan, const DescribedCall::Choice &choice, std::size_t value) {
    const Format *format = plan.arguments[value].format;
    if (format && format->has_names()) { // BTF knows its names better
        values_.append(out, view, view.values[value], format);
        return;
    }
    const std::string number = plan.described->number(choice, view, value);
    if (number.empty())
        values_.append(out, view, view.values[value], format);
    else
        out += number;
    if (const std::string name = plan.described->name(choice, view, value); !name.empty()) {
        out += ',';
        append_json_string(out, view.event->probe->args[value].name + ".text");
        out += ':';
        append_json_string(out, name);
    }
}

void JsonRenderer::event(Line &out, const EventView &view) {
    const Event &event = *view.event;
    const Plan &plan =
        plans_.find(*event.probe, [this](const Probe &probe) { return make_plan(probe); });
    const Snippet &task = tasks_.find(event, [](const Event &one) { return make_task(one); });
    const Snippet *caller = &no_caller_;
    if (event.caller != 0)
        caller = &recent_callers_.find(
            event.caller_place(), [this](CodePlace place) { return make_caller(place); });

    char *to = out.reserve(start_.view().size() + cpu_.view().size() + 2 * decimal_size_max +
                           task.view().size() + sizeof(FlagsColumn) + caller->view().size() +
                           plan.size_max);
    to = write_decimal(start_.write(to), event.ts);
    to = write_decimal(cpu_.write(to), event.cpu);
    to = task.write(to);
    const FlagsColumn flags = flags_column(event.context, event.preempt);
    std::memcpy(to, flags.text.data(), sizeof(flags));
    to = caller->write(plan.head.write(to + sizeof(flags)));
    bool cut = false;
    const DescribedCall::Choice choice = plan.described ? plan.described->choose(view) : DescribedCall::Choice();
    for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
        const Plan::Argument &argument = plan.arguments[i];
        if (argument.is_hidden) [[unlikely]]
            continue;
        // Only values behind an argument are left out, and none of them is the first.
        if (choice.row && argument.may_be_absent && is_empty_meaning(view.values[i], argument.format)) [[unlikely]]
            continue;
        // Those of one page stand for all, which are before them.
        if (argument.may_be_absent && argument.format && argument.format->goes_on && view.values[i - 1].captured) [[unlikely]]
            continue;
        to = argument.before.write(to);
        if (choice.row) [[unlikely]] {
            out.set_end(to);
            append_described(out, view, plan, choice, i);
            cut |= view.values[i].cut;
            to = out.reserve(plan.size_max);
            continue;
        }
        char *end = argument.format ? nullptr : write_common_json(to, view.values[i]);
        if (!end) [[unlikely]] {
            cut |= view.values[i].cut;
            out.set_end(to);
            values_.append(out, view, view.values[i], argument.format);
            end = out.reserve(plan.size_max);
        }
        to = end;
    }
    to = plan.tail.write(to);
    if (plan.returns) [[unlikely]] {
        out.set_end(to - end_size);
        append_json_outcome(out, values_, view, plan.has_result, plan.result, plan.described);
        out += "}\n";
        to = out.reserve(0);
    }
    if (plan.stacks.any()) [[unlikely]] {
        out.set_end(to - end_size);
        append_json_stacks(out, callers_, StackValues::of(view, plan.stacks));
        out += "}\n";
        to = out.reserve(0);
    }
    if (cut) [[unlikely]] {
        out.set_end(to - end_size);
        append_cut(out, view);
        out += "}\n";
        return;
    }
    out.set_end(to);
}

} // namespace argtrace
