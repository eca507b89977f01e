// SPDX-License-Identifier: GPL-2.0-only
#include "render/go_text.h"

#include <ctime>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/type.h"

namespace argtrace {

namespace {

/// A value, or what stands for several.
struct Part {
    std::string_view name; ///< within what it is a part of
    std::optional<std::size_t> value = {}; ///< its index among those of the event
    std::vector<Part> parts = {};

    const Part *find(std::string_view wanted) const {
        for (const Part &part : parts)
            if (part.name == wanted)
                return &part;
        return nullptr;
    }
};

/// Adds a value whose name within `whole` is that: "P.X".
void add(Part &whole, std::string_view name, std::size_t value) {
    const std::size_t end = name.find('.');
    const std::string_view first = name.substr(0, end);
    if (whole.parts.empty() || whole.parts.back().name != first)
        whole.parts.push_back({.name = first});
    if (end == name.npos)
        whole.parts.back().value = value;
    else
        add(whole.parts.back(), name.substr(end + 1), value);
}

std::string fraction(std::uint64_t number, std::uint64_t unit) {
    std::string text = fmt::format("{}", number / unit);
    std::string digits = fmt::format("{:0{}}", number % unit, fmt::format("{}", unit).size() - 1);
    while (!digits.empty() && digits.back() == '0')
        digits.pop_back();
    return number % unit == 0 ? text : text + '.' + digits;
}

class GoWriter {
public:
    GoWriter(Line &out, ValueWriter &values, const EventView &view)
        : out_(out), values_(values), view_(view), formats_(values.formats(*view.event->probe)) {}

    void append(const Part &part) {
        if (part.parts.empty())
            append_value(part);
        else if (part.value && is_pointer(part) && argument_of(part).type_name.starts_with('*'))
            append_pointer(part);
        else if (part.find("(real)") && part.find("(imag)"))
            append_complex(part);
        else if (part.find("len") && part.find("array"))
            append_slice(part);
        else if (part.find("len") && part.value && is_pointer(part))
            append_reference(part);
        else if (part.find("type") && part.value && is_pointer(part))
            append_interface(part);
        else if (part.find("nsec") && part.value && view_.values[*part.value].captured)
            append_time(part);
        else if (part.parts.front().name.starts_with('['))
            append_elements(part, std::nullopt);
        else
            append_struct(part);
    }

private:
    const Value &value_of(const Part &part) const { return view_.values[*part.value]; }
    const Argument &argument_of(const Part &part) const { return view_.event->probe->args[*part.value]; }
    bool is_pointer(const Part &part) const { return argument_of(part).type == ARGTRACE_TYPE_PTR; }
    bool is_nil(const Part &part) const { return part.value && value_of(part).captured && value_of(part).low == 0; }

    void append_value(const Part &part) {
        if (part.value)
            values_.append(out_, view_, value_of(part), formats_.argument(*part.value));
        else
            out_ += '?';
    }

    void append_number(const Part &whole, std::string_view name) {
        if (const Part *part = whole.find(name); part && part->value) {
            fmt::format_to(std::back_inserter(out_), " {}=", name);
            append_value(*part);
        }
    }

    void append_slice(const Part &part) {
        if (is_nil(*part.find("array"))) {
            out_ += "nil";
            return;
        }
        const Part &length = *part.find("len");
        if (part.value && argument_of(part).type == ARGTRACE_TYPE_BYTES)
            append_value(part);
        else if (part.parts.front().name.starts_with('[') && value_of(length).captured)
            append_elements(part, value_of(length).low);
        else
            out_ += value_of(length).captured && value_of(length).low == 0 ? "[]" : "[...]";
        append_number(part, "len");
        append_number(part, "cap");
    }

    void append_elements(const Part &part, std::optional<std::uint64_t> count) {
        std::uint64_t shown = 0;
        out_ += '[';
        for (const Part &element : part.parts) {
            if (!element.name.starts_with('[') || (count && shown == *count))
                break;
            out_ += shown++ > 0 ? " " : "";
            const bool is_empty = count && element.parts.empty() && element.value && is_absent(value_of(element), formats_.argument(*element.value));
            if (is_empty)
                out_ += "\"\"";
            else
                append(element);
        }
        if (count && shown < *count)
            out_ += shown > 0 ? " ..." : "...";
        out_ += ']';
    }

    void append_pointer(const Part &part) {
        if (is_nil(part)) {
            out_ += "nil";
            return;
        }
        out_ += '&';
        append_struct(part);
    }

    void append_complex(const Part &part) {
        const Part &real = *part.find("(real)"), &imaginary = *part.find("(imag)");
        if (!real.value || !imaginary.value) {
            out_ += '?';
            return;
        }
        const Value &number = value_of(imaginary);
        const bool is_negative = number.low >> (number.type == ARGTRACE_TYPE_F32 ? 31 : 63) & 1;
        out_ += '(';
        append_value(real);
        out_ += number.captured && is_negative ? "" : "+";
        append_value(imaginary);
        out_ += "i)";
    }

    /// A map or a channel.
    void append_reference(const Part &part) {
        const bool is_channel = part.find("cap");
        if (is_nil(part))
            out_ += "nil";
        else if (is_channel)
            append_value(part);
        else
            out_ += is_nil(*part.find("len")) ? "map[]" : "map[...]";
        if (is_nil(part))
            return;
        append_number(part, "len");
        append_number(part, "cap");
    }

    void append_interface(const Part &part) {
        const Part &type = *part.find("type"), *text = part.find("text");
        const Value &name = value_of(type);
        if (name.captured && name.high == 0) {
            out_ += "nil";
            return;
        }
        out_ += argument_of(part).type_name;
        out_ += '(';
        if (name.captured)
            out_ += std::string_view(reinterpret_cast<const char *>(view_.bytes_of(name).data()), name.high);
        else
            out_ += '?';
        out_ += name.cut ? "...)" : ")";
        if (text && text->value && value_of(*text).captured && value_of(*text).high > 0)
            append_value(*text);
        else
            append_value(part);
    }

    void append_time(const Part &part) {
        const auto seconds = static_cast<std::time_t>(value_of(part).low);
        const Value &nanoseconds = value_of(*part.find("nsec"));
        std::tm time = {};
        constexpr std::time_t year_one = -62135596800;
        if (seconds == year_one && nanoseconds.low == 0) {
            out_ += "0001-01-01T00:00:00Z";
            return;
        }
        if (!::gmtime_r(&seconds, &time) || !nanoseconds.captured) {
            out_ += '?';
            return;
        }
        fmt::format_to(std::back_inserter(out_), "{:04}-{:02}-{:02}T{:02}:{:02}:", time.tm_year + 1900, time.tm_mon + 1, time.tm_mday, time.tm_hour, time.tm_min);
        fmt::format_to(std::back_inserter(out_), "{:02}", time.tm_sec);
        if (nanoseconds.low != 0)
            out_ += fraction(nanoseconds.low, 1'000'000'000).substr(1);
        out_ += 'Z';
    }

    void append_struct(const Part &part) {
        std::string_view separator;
        out_ += '{';
        for (const Part &field : part.parts) {
            out_ += separator;
            separator = " ";
            out_ += field.name;
            out_ += ':';
            append(field);
        }
        out_ += '}';
    }

    Line &out_;
    ValueWriter &values_;
    const EventView &view_;
    const ProbeFormats &formats_;
};

} // namespace

std::string go_duration(std::int64_t nanoseconds) {
    constexpr std::uint64_t second = 1'000'000'000;
    const std::string sign = nanoseconds < 0 ? "-" : "";
    const std::uint64_t number = nanoseconds < 0 ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
    if (number == 0)
        return "0s";
    if (number < 1000)
        return fmt::format("{}{}ns", sign, number);
    if (number < 1'000'000)
        return sign + fraction(number, 1000) + "µs";
    if (number < second)
        return sign + fraction(number, 1'000'000) + "ms";
    const std::uint64_t minutes = number / (60 * second);
    std::string text = fraction(number % (60 * second), second) + 's';
    if (minutes > 0)
        text = fmt::format("{}m{}", minutes % 60, text);
    if (minutes >= 60)
        text = fmt::format("{}h{}", minutes / 60, text);
    return sign + text;
}

void append_go_value(Line &out, ValueWriter &values, const EventView &view, std::size_t argument, std::size_t first, std::size_t count) {
    const std::vector<Argument> &arguments = view.event->probe->args;
    Part whole;
    if (arguments[argument].loc != ARGTRACE_LOC_NONE || count == 0)
        whole.value = argument;
    for (std::size_t i = first; i < first + count; i++)
        add(whole, std::string_view(arguments[i].name).substr(arguments[argument].name.size() + 1), i);
    GoWriter(out, values, view).append(whole);
}

} // namespace argtrace
