// SPDX-License-Identifier: GPL-2.0-only
#include "render/call.h"

#include "render/call_value.h"
#include "render/change.h"
#include "render/meaning.h"

namespace argtrace {

namespace {

/// Whether the values behind an argument say what its type means, and not what the table of calls reads.
bool is_of_type(const Probe &probe, std::size_t argument, std::size_t meanings) {
    if (meanings == 0)
        return false;
    const std::string_view part = std::string_view(probe.args[argument + 1].name).substr(probe.args[argument].name.size() + 1);
    return part != "value" && part != "path";
}

} // namespace

void append_arguments(Line &out, ValueWriter &values, const EventView &view) {
    const Probe &probe = *view.event->probe;
    const ProbeFormats &formats = values.formats(probe);
    const DescribedCall *described = values.described(probe);
    const DescribedCall::Choice choice = described ? described->choose(view) : DescribedCall::Choice();
    std::string_view separator;
    for (std::size_t i = 0; i < shown_arguments(probe); ++i) {
        if (described && described->is_hidden(choice, i)) {
            i += count_meanings(probe, i);
            continue;
        }
        out += separator;
        separator = ", ";
        out += probe.args[i].name;
        out += '=';
        if (is_change(probe, i)) {
            append_change(out, values, view, formats, i++);
            continue;
        }
        const std::size_t meanings = count_meanings(probe, i);
        if (described && described->is_syscall() && !is_of_type(probe, i, meanings)) {
            append_call_value(out, values, view, *described, choice, i, i + 1, meanings);
            i += meanings;
            continue;
        }
        // BTF knows the names of an enum better.
        const bool is_enum = formats.argument(i) && formats.argument(i)->kind == Format::Kind::enumeration;
        const std::string text = described && meanings == 0 && !is_enum ? described->text(choice, view, i) : std::string();
        if (text.empty())
            append_with_meaning(out, values, view, formats, i);
        else
            out += text;
        i += meanings;
    }
}

void append_call_arguments(Line &out, ValueWriter &values, const EventView &view) {
    out += '(';
    append_arguments(out, values, view);
    out += ')';
}

} // namespace argtrace
