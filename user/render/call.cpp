// SPDX-License-Identifier: GPL-2.0-only
#include "render/call.h"

#include "render/change.h"
#include "render/meaning.h"

namespace argtrace {

void append_call_arguments(Line &out, ValueWriter &values, const EventView &view) {
    const Probe &probe = *view.event->probe;
    const ProbeFormats &formats = values.formats(probe);
    out += '(';
    for (std::size_t i = 0; i < shown_arguments(probe); ++i) {
        if (i > 0)
            out += ", ";
        out += probe.args[i].name;
        out += '=';
        if (is_change(probe, i)) {
            append_change(out, values, view, formats, i++);
            continue;
        }
        append_with_meaning(out, values, view, formats, i);
        i += count_meanings(probe, i);
    }
    out += ')';
}

} // namespace argtrace
