// SPDX-License-Identifier: GPL-2.0-only
#include "render/call.h"

#include "render/call_value.h"
#include "render/change.h"
#include "render/meaning.h"

namespace argtrace {

void append_arguments(Line &out, ValueWriter &values, const EventView &view) {
    const Probe &probe = *view.event->probe;
    const ProbeFormats &formats = values.formats(probe);
    const ProbeParts &parts = values.parts(probe);
    const DescribedCall *described = values.described(probe);
    const DescribedCall::Choice choice = described ? described->choose(view) : DescribedCall::Choice();
    const std::vector<Snippet> *names = &parts.names;
    for (std::size_t i = 0; i < parts.shown; ++i) {
        if (described && described->is_hidden(choice, i)) {
            i += parts.meanings[i];
            continue;
        }
        out += (*names)[i];
        names = &parts.next_names;
        if (parts.changes[i]) {
            append_change(out, values, view, formats, i++);
            continue;
        }
        const std::size_t meanings = parts.meanings[i];
        if (described && (meanings == 0 || (described->is_syscall() && described->role(i + 1) != DescribedCall::Role::part)))
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
