// SPDX-License-Identifier: GPL-2.0-only
#include "render/outcome.h"

#include <string_view>

#include "model/result.h"
#include "model/type.h"
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

} // namespace

void append_result_value(Line &out, ValueWriter &values, const EventView &view,
                         const Format *result) {
    const Value &value = view.values.back();
    const std::string_view error = result ? std::string_view() : error_of(value);
    if (error.empty()) {
        values.append(out, view, value, result);
    } else {
        out += '-';
        out += error;
    }
}

void append_outcome(Line &out, ValueWriter &values, const EventView &view, bool has_result,
                    const Format *result) {
    if (has_result) {
        out += " = ";
        append_result_value(out, values, view, result);
    }
    out += " <";
    out += format_duration(view.event->duration);
    out += '>';
}

void append_json_outcome(Line &out, ValueWriter &values, const EventView &view, bool has_result,
                         const Format *result) {
    out += ",\"ret\":";
    if (!has_result) {
        out += "null";
    } else if (!result && !error_of(view.values.back()).empty()) {
        out += '"';
        append_result_value(out, values, view, result);
        out += '"';
    } else {
        values.append(out, view, view.values.back(), result);
    }
    out += ",\"duration\":";
    out.append_decimal(view.event->duration);
}

} // namespace argtrace
