// SPDX-License-Identifier: GPL-2.0-only
#include "render/value_writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "model/type.h"
#include "render/json.h"
#include "render/text.h"

namespace argtrace {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t text_elements_max = 16;

Bytes behind(Bytes data, std::size_t offset) {
    return data.subspan(std::min(offset, data.size()));
}

std::uint64_t sign_extend(std::uint64_t value, std::uint32_t bits) {
    const std::uint32_t spare = 64 - bits;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << spare) >> spare);
}

/// The scalar that `data` begins with. Not captured when it is cut off.
Value load(const Format &format, Bytes data) {
    Value value;
    if (data.size() < format.bytes || format.bytes > 16)
        return value;
    std::memcpy(&value.low, data.data(), std::min<std::size_t>(format.bytes, 8));
    if (format.bytes > 8)
        std::memcpy(&value.high, data.data() + 8, format.bytes - 8);
    else if (type_info(format.type).is_signed)
        value.low = sign_extend(value.low, 8 * format.bytes);
    value.type = format.type;
    value.captured = true;
    return value;
}

/// The bitfield at that place; bits count from the lowest of the first byte.
Value load_bits(const Format &format, Bytes data, std::uint32_t offset, std::uint32_t bits) {
    Value value;
    if (bits > 64 || (std::size_t{offset} + bits + 7) / 8 > data.size())
        return value;
    for (std::uint32_t got = 0; got < bits;) {
        const std::uint32_t at = offset + got;
        const std::uint32_t take = std::min(8 - at % 8, bits - got);
        const auto byte = std::to_integer<std::uint64_t>(data[at / 8]);
        value.low |= (byte >> at % 8 & ((1u << take) - 1)) << got;
        got += take;
    }
    if (type_info(format.type).is_signed)
        value.low = sign_extend(value.low, bits);
    value.type = format.type;
    value.captured = true;
    return value;
}

bool is_scalar(const Format &format) {
    return format.kind == Format::Kind::scalar || format.kind == Format::Kind::enumeration ||
           format.kind == Format::Kind::function;
}

bool is_error(std::uint64_t address) {
    return address == 0 || address >= std::uint64_t(-4095);
}

/// Appends text as C writes it, in quotes.
void append_quoted(Line &out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const std::size_t plain = std::min(text.find_first_of("\"\\\n\r\t"), text.size());
        append_visible(out, text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty())
            break;
        const char character = text.front();
        out += '\\';
        out += character == '\n'   ? 'n'
               : character == '\r' ? 'r'
               : character == '\t' ? 't'
                                   : character;
        text.remove_prefix(1);
    }
    out += '"';
}

std::string_view as_text(Bytes data) {
    return {reinterpret_cast<const char *>(data.data()), data.size()};
}

std::string_view up_to_nul(std::string_view text) {
    return text.substr(0, text.find('\0'));
}

} // namespace

void ValueWriter::append(Line &out, const EventView &view, const Value &value,
                         const Format *format) {
    const bool bytes = value.type == ARGTRACE_TYPE_BYTES;
    if (value.captured && value.type == ARGTRACE_TYPE_STR) {
        append_string(out, as_text(view.bytes_of(value)));
        if (value.cut && style_ == Style::text)
            out += "...";
    } else if (!value.captured || (!format && !bytes)) {
        append_value(out, value);
    } else if (!format) {
        append_bytes(out, view.bytes_of(value));
    } else if (bytes) {
        append_formatted(out, *format, view.bytes_of(value));
    } else if (is_scalar(*format)) {
        append_scalar(out, *format, value);
    } else { // a struct that was recorded as the number it fills
        const std::array<std::uint64_t, 2> words{value.low, value.high};
        append_formatted(out, *format,
                         std::as_bytes(std::span(words)).first(type_info(value.type).size));
    }
}

void ValueWriter::append_value(Line &out, const Value &value) const {
    if (style_ == Style::json)
        append_json_value(out, value);
    else
        append_text_value(out, value);
}

void ValueWriter::append_bytes(Line &out, Bytes data) const {
    const bool json = style_ == Style::json;
    const std::string_view separator = json ? "" : " ";
    out += json ? '"' : '{';
    for (std::size_t i = 0; i < data.size(); ++i)
        fmt::format_to(std::back_inserter(out), "{}{:02x}", i > 0 ? separator : "",
                       std::to_integer<unsigned>(data[i]));
    out += json ? '"' : '}';
}

void ValueWriter::append_name(Line &out, std::string_view name) const {
    if (style_ == Style::json)
        append_json_string(out, name);
    else
        out += name;
}

void ValueWriter::append_scalar(Line &out, const Format &format, const Value &value) {
    std::string_view name;
    if (value.captured && format.kind == Format::Kind::enumeration)
        name = format.name_of(value.low);
    else if (value.captured && format.kind == Format::Kind::function && !is_error(value.low))
        name = names_.function(value.low);

    if (name.empty())
        append_value(out, value);
    else
        append_name(out, name);
}

void ValueWriter::append_formatted(Line &out, const Format &format, Bytes data) {
    switch (format.kind) {
    case Format::Kind::unknown:
        append_value(out, Value{});
        break;
    case Format::Kind::scalar:
    case Format::Kind::function:
    case Format::Kind::enumeration:
        append_scalar(out, format, load(format, data));
        break;
    case Format::Kind::text:
        append_string(out, up_to_nul(as_text(
                               data.first(std::min<std::size_t>(format.bytes, data.size())))));
        break;
    case Format::Kind::array:
        append_array(out, format, data);
        break;
    case Format::Kind::aggregate:
        append_fields(out, format, data);
        break;
    }
}

void ValueWriter::append_fields(Line &out, const Format &format, Bytes data) {
    const bool json = style_ == Style::json;
    std::string_view separator;
    out += '{';
    for (const Format::Field &field : format.fields) {
        out += separator;
        separator = json ? "," : ", ";
        append_name(out, field.name);
        out += json ? ':' : '=';
        if (field.bit_size == 0)
            append_formatted(out, *field.format, behind(data, field.bit_offset / 8));
        else
            append_scalar(out, *field.format,
                          load_bits(*field.format, data, field.bit_offset, field.bit_size));
    }
    out += '}';
}

void ValueWriter::append_array(Line &out, const Format &format, Bytes data) {
    const bool json = style_ == Style::json;
    const std::uint32_t shown = json ? format.count : std::min(format.count, text_elements_max);
    out += '[';
    for (std::uint32_t i = 0; i < shown; ++i) {
        if (i > 0)
            out += json ? "," : ", ";
        append_formatted(out, *format.element,
                         behind(data, std::size_t{i} * format.element->bytes));
    }
    if (shown < format.count)
        out += ", ...";
    out += ']';
}

void ValueWriter::append_string(Line &out, std::string_view text) const {
    if (style_ == Style::json)
        append_json_string(out, text);
    else
        append_quoted(out, text);
}

} // namespace argtrace
