// SPDX-License-Identifier: GPL-2.0-only
#include "render/meaning.h"

#include <span>
#include <string_view>

#include "model/type.h"
#include "render/go_text.h"

namespace argtrace {

std::size_t count_meanings(const Probe &probe, std::size_t argument) {
    const std::string_view name = probe.args[argument].name;
    if (probe.args[argument].loc == ARGTRACE_LOC_PROGRAM && type_info(probe.args[argument].type).type_class == TypeClass::text)
        return 0; // it says itself what it means, and a member of it was asked for beside it
    std::size_t count = 0;
    for (std::size_t i = argument + 1; i < probe.args.size(); ++i, ++count) {
        const std::string_view other = probe.args[i].name;
        const bool is_recorded = probe.args[i].loc == ARGTRACE_LOC_PROGRAM || probe.args[i].loc == ARGTRACE_LOC_NONE; // Go's struct{} has no bytes
        if (!is_recorded || !other.starts_with(name) ||
            !other.substr(name.size()).starts_with('.') || other.ends_with("()"))
            break;
    }
    return count;
}

std::string_view meaning_name(const Probe &probe, std::size_t argument, std::size_t meaning) {
    return std::string_view(probe.args[meaning].name).substr(probe.args[argument].name.size() + 1);
}

bool is_empty_meaning(const Value &value, const Format *format) {
    return is_absent(value, format) || (value.type == ARGTRACE_TYPE_PATH && value.high == 0);
}

void append_with_meaning(Line &out, ValueWriter &values, const EventView &view,
                         const ProbeFormats &formats, std::size_t argument) {
    append_with_meaning(out, values, view, formats, argument, formats.argument(argument), argument + 1, count_meanings(*view.event->probe, argument));
}

void append_with_meaning(Line &out, ValueWriter &values, const EventView &view, const ProbeFormats &formats, std::size_t argument,
                         const Format *format, std::size_t first, std::size_t count) {
    const Probe &probe = *view.event->probe;
    if (formats.are_of_go()) {
        append_go_value(out, values, view, argument, first, count);
        return;
    }
    const std::span<const Value> meanings = view.values.subspan(first, count);
    const auto is_left_out = [&](std::size_t i) { return is_empty_meaning(meanings[i], formats.argument(first + i)); };
    bool any = false;
    for (std::size_t i = 0; i < count && !values.shows_arguments_alone(); ++i)
        any = any || (meanings[i].captured && !is_left_out(i));
    if (!any) {
        values.append(out, view, view.values[argument], format);
        return;
    }
    const bool is_pointer = type_info(probe.args[argument].type).type_class == TypeClass::address;
    const Format *const of_first = formats.argument(first);
    const bool is_text = type_info(probe.args[first].type).type_class == TypeClass::text || (of_first && of_first->kind == Format::Kind::characters);
    if (count == 1 && (is_text || !is_pointer)) {
        values.append(out, view, meanings.front(), formats.argument(first));
        return;
    }
    std::string_view separator = "{";
    for (std::size_t i = 0, own = 0; i < count; i += 1 + own) {
        const std::size_t at = first + i;
        own = count_meanings(probe, at) > 0 && meaning_name(probe, at, at + 1) == whole_part; // the text that a member points to
        if (is_left_out(i))
            continue;
        out += separator;
        separator = ", ";
        const std::string_view name = meaning_name(probe, argument, at);
        if (name != whole_part) {
            out += name;
            out += '=';
        }
        append_with_meaning(out, values, view, formats, at, formats.argument(at), at + 1, own);
    }
    out += '}';
}

} // namespace argtrace
