// SPDX-License-Identifier: GPL-2.0-only
#include "render/call.h"

#include "render/call_value.h"
#include "render/change.h"
#include "render/meaning.h"

namespace argtrace {

namespace {

/// Whether the values behind an argument are what the table of calls reads, and not what its type means.
bool is_of_table(const Probe &probe, std::size_t argument) {
    const std::string_view part = meaning_name(probe, argument, argument + 1);
    return part.starts_with(whole_part) || part.starts_with(before_part) || part.starts_with(path_part);
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
        if (described && (meanings == 0 || (described->is_syscall() && is_of_table(probe, i))))
            append_call_value(out, values, view, *described, choice, i, i + 1, meanings);
        else
            append_with_meaning(out, values, view, formats, i);
        i += meanings;
    }
}

void append_call_arguments(Line &out, ValueWriter &values, const EventView &view) {
    out += '(';
    append_arguments(out, values, view);
    out += ')';
}

} // namespace argtrace
