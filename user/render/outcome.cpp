// SPDX-License-Identifier: GPL-2.0-only
#include "render/outcome.h"

#include <string>
#include <string_view>

#include "model/result.h"
#include "model/type.h"
#include "render/call_value.h"
#include "render/json.h"
#include "util/errno_name.h"
#include "util/units.h"

namespace argtrace {

namespace {

/// "ENOENT" of -2; empty where it is no error.
std::string_view error_of(const Value &value) {
    const bool pointer = type_info(value.type).type_class == TypeClass::address; // shown so anyway
    const std::uint32_t error = pointer ? 0 : error_number(value);
    return error ? errno_name(error) : std::string_view();
}

/// The name of a result that is a number: ,"ret.text":"O_RDWR".
void append_json_name(Line &out, const EventView &view, const DescribedCall &described) {
    if (const std::string name = described.name(described.choose(view), view, view.values.size() - 1); !name.empty()) {
        out += ",\"ret.text\":";
        append_json_string(out, name);
    }
}

} // namespace

void append_result_value(Line &out, ValueWriter &values, const EventView &view,
                         const Format *result, const DescribedCall *described) {
    const Value &value = view.values.back();
    const std::string_view error = result ? std::string_view() : error_of(value);
    if (const std::size_t count = described ? result_meanings(*view.event->probe) : 0; count > 0 && error.empty()) {
        const std::size_t result_index = view.values.size() - 1;
        append_call_value(out, values, view, *described, described->choose(view), result_index, shown_arguments(*view.event->probe), count);
    } else if (const std::string text = described ? described->text(described->choose(view), view, view.values.size() - 1) : std::string();
        !text.empty()) {
        out += text;
    } else if (error.empty()) {
        values.append(out, view, value, result);
    } else {
        out += '-';
        out += error;
    }
}

void append_outcome(Line &out, ValueWriter &values, const EventView &view, bool has_result,
                    const Format *result, const DescribedCall *described) {
    if (has_result) {
        out += " = ";
        append_result_value(out, values, view, result, described);
    }
    out += " <";
    out += format_duration(view.event->duration);
    out += '>';
}

void append_json_outcome(Line &out, ValueWriter &values, const EventView &view, bool has_result,
                         const Format *result, const DescribedCall *described) {
    out += ",\"ret\":";
    if (!has_result) {
        out += "null";
    } else if (!result && !error_of(view.values.back()).empty()) {
        out += '"';
        append_result_value(out, values, view, result, described);
        out += '"';
    } else {
        values.append(out, view, view.values.back(), result);
        if (described)
            append_json_name(out, view, *described);
    }
    const Probe &probe = *view.event->probe;
    const std::size_t first = shown_arguments(probe);
    for (std::size_t i = first; i < first + result_meanings(probe); ++i) {
        if (view.values[i].captured && view.values[i].has_bytes() && view.values[i].high == 0)
            continue;
        out += ',';
        append_json_string(out, probe.args[i].name);
        out += ':';
        values.append(out, view, view.values[i], values.formats(probe).argument(i));
    }
    out += ",\"duration\":";
    out.append_decimal(view.event->duration);
}

} // namespace argtrace
