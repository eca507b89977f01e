// SPDX-License-Identifier: GPL-2.0-only
#include "render/outcome.h"

#include <string>
#include <string_view>

#include "model/result.h"
#include "model/type.h"
#include "render/call_value.h"
#include "render/go_text.h"
#include "render/json.h"
#include "render/meaning.h"
#include "util/errno_name.h"
#include "util/units.h"

namespace argtrace {

namespace {

/// "ENOENT" of -2; empty where it is no error.
std::string_view error_of(const EventView &view) {
    const Value &value = view.values.back();
    const bool pointer = type_info(value.type).type_class == TypeClass::address; // shown so anyway
    const std::uint32_t error = pointer ? 0 : error_number(*view.event->probe, value);
    return error ? errno_name(error) : std::string_view();
}

/// The name of a result that is a number, and what else is known of it: ,"ret.text":"O_RDWR","ret.path":"/dev/null".
void append_json_meanings(Line &out, ValueWriter &values, const EventView &view, const DescribedCall *described) {
    if (const std::string name = described ? described->name(described->choose(view), view, view.values.size() - 1) : ""; !name.empty()) {
        out += ",\"ret.text\":";
        append_json_string(out, name);
    }
    const Probe &probe = *view.event->probe;
    const ProbeFormats &formats = values.formats(probe);
    const ProbeParts &parts = values.parts(probe);
    const std::size_t first = parts.shown, end = first + parts.result_meanings;
    for (std::size_t i = first; i < end; ++i) {
        if (described && is_empty_meaning(view.values[i], formats.argument(i)))
            continue;
        out += ',';
        append_json_string(out, probe.args[i].name);
        out += ':';
        values.append(out, view, view.values[i], formats.argument(i));
    }
}

/// An address that would be an error if the kernel returned it, as MAP_FAILED would: of a user function it is what it is.
bool is_plain_address(const EventView &view) {
    const Value &value = view.values.back();
    return kind_of(*view.event->probe) == user_kind && type_info(value.type).type_class == TypeClass::address && value.captured &&
           is_error_pointer(value.low);
}

} // namespace

void append_result_value(Line &out, ValueWriter &values, const EventView &view,
                         const Format *result, const DescribedCall *described) {
    const Value &value = view.values.back();
    const Probe &traced = *view.event->probe;
    const ProbeParts &parts = values.parts(traced);
    if (values.formats(traced).are_of_go()) {
        append_go_value(out, values, view, view.values.size() - 1, parts.shown, parts.result_meanings);
        return;
    }
    const std::string_view error = result ? std::string_view() : error_of(view);
    if (!error.empty()) {
        out += '-';
        out += error;
    } else if (!result && is_plain_address(view)) {
        out.append_hex(value.low);
    } else if (described) {
        append_call_value(out, values, view, *described, described->choose(view), view.values.size() - 1, parts.shown, parts.result_meanings);
    } else {
        append_with_meaning(out, values, view, values.formats(traced), view.values.size() - 1, result, parts.shown, parts.result_meanings);
    }
}

void append_outcome(Line &out, ValueWriter &values, const EventView &view, bool has_result,
                    const Format *result, const DescribedCall *described) {
    if (has_result) {
        out += " = ";
        append_result_value(out, values, view, result, described);
    }
    out += view.event->left ? " <left within " : " <";
    out += format_duration(view.event->duration);
    out += '>';
}

void append_json_outcome(Line &out, ValueWriter &values, const EventView &view, bool has_result,
                         const Format *result, const DescribedCall *described) {
    out += ",\"ret\":";
    if (!has_result) {
        out += "null";
    } else if (!result && !values.formats(*view.event->probe).are_of_go() && (!error_of(view).empty() || is_plain_address(view))) {
        out += '"';
        append_result_value(out, values, view, result, described);
        out += '"';
    } else {
        values.append(out, view, view.values.back(), result);
        if (described || values.parts(*view.event->probe).result_meanings > 0)
            append_json_meanings(out, values, view, described);
    }
    out += view.event->left ? ",\"duration\":null,\"left_within\":" : ",\"duration\":";
    out.append_decimal(view.event->duration);
}

} // namespace argtrace
