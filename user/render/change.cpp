// SPDX-License-Identifier: GPL-2.0-only
#include "render/change.h"

#include <algorithm>
#include <string_view>

namespace argtrace {

namespace {

constexpr std::string_view return_suffix = "@ret";

bool is_same(const EventView &view, const Value &a, const Value &b) {
    if (a.captured != b.captured || a.cut != b.cut || a.has_bytes() != b.has_bytes())
        return false;
    if (!a.captured || !a.has_bytes())
        return a.low == b.low && a.high == b.high;
    const auto first = view.bytes_of(a), second = view.bytes_of(b);
    return std::equal(first.begin(), first.end(), second.begin(), second.end());
}

} // namespace

bool is_change(const Probe &probe, std::size_t argument) {
    if (argument + 1 >= probe.args.size() || probe.args[argument].loc != ARGTRACE_LOC_PROGRAM ||
        probe.args[argument + 1].loc != ARGTRACE_LOC_PROGRAM)
        return false;
    const std::string_view name = probe.args[argument].name, next = probe.args[argument + 1].name;
    return next.size() == name.size() + return_suffix.size() && next.starts_with(name) &&
           next.ends_with(return_suffix);
}

void append_change(Line &out, ValueWriter &values, const EventView &view,
                   const ProbeFormats &formats, std::size_t argument) {
    const Value &before = view.values[argument], &after = view.values[argument + 1];
    values.append(out, view, before, formats.argument(argument));
    if (is_same(view, before, after))
        return;
    out += " -> ";
    values.append(out, view, after, formats.argument(argument + 1));
}

} // namespace argtrace
