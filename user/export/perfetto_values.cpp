// SPDX-License-Identifier: GPL-2.0-only
#include "export/perfetto_values.h"

#include <algorithm>
#include <array>

#include "model/floating.h"
#include "model/type.h"
#include "render/common_value.h"
#include "render/load_value.h"
#include "util/utf8_text.h"

namespace argtrace {

namespace {

using Bytes = std::span<const std::byte>;

std::string_view as_text(Bytes data) {
    return {reinterpret_cast<const char *>(data.data()), data.size()};
}

/// Where a person reads a name, or an address, in the place of a number.
bool has_text(const Format &format, std::uint64_t value) {
    switch (format.kind) {
    case Format::Kind::function:
        return value != 0;
    case Format::Kind::flags: // that of no flag is the last
        return value != 0 || (!format.names.empty() && format.names.back().value == 0);
    case Format::Kind::enumeration:
        return !format.name_of(value).empty();
    default:
        return false;
    }
}

} // namespace

void PerfettoValues::forget() {
    names_.clear();
    strings_.clear();
    fields_.clear();
    interned_.clear();
}

void PerfettoValues::put_string(ProtobufWriter &out, std::string_view text) {
    if (const std::uint64_t id = strings_.id(text, interned_))
        out.number(perfetto::annotation::string_id, id);
    else
        out.text(perfetto::annotation::string, text);
}

void PerfettoValues::append_string(ProtobufWriter &out, unsigned field, std::uint64_t name,
                                   std::string_view text) {
    const std::size_t begin = out.open(field);
    out.number(perfetto::annotation::name_id, name);
    put_string(out, text);
    out.close(begin);
}

/// As `report` shows it.
void PerfettoValues::put_text(ProtobufWriter &out, const Format *format, const Value &value,
                              Bytes data) {
    text_.clear();
    texts_.append(text_, EventView{nullptr, {}, data}, value, format);
    put_string(out, text_.view());
}

void PerfettoValues::put_scalar(ProtobufWriter &out, const Format *format, const Value &value) {
    const TypeInfo &type = type_info(value.type);
    if (type.is_wide() || (format && has_text(*format, value.low)))
        return put_text(out, format, value, {});
    switch (type.type_class) {
    case TypeClass::boolean:
        return out.number(perfetto::annotation::boolean, value.low != 0);
    case TypeClass::address:
        if (is_error_pointer(value.low) && !(format && format->kind == Format::Kind::user_address))
            return put_text(out, format, value, {});
        return out.number(perfetto::annotation::pointer, value.low);
    case TypeClass::floating:
        return out.floating(perfetto::annotation::floating, floating_value(value));
    default:
        return out.number(type.is_signed ? perfetto::annotation::signed_integer
                                         : perfetto::annotation::unsigned_integer,
                          value.low);
    }
}

std::uint64_t PerfettoValues::field_name(const Format::Field &field) {
    auto [known, added] = fields_.try_emplace(&field);
    if (added)
        known->second = names_.id(valid_utf8(field.name), interned_);
    return known->second;
}

/// The value of an annotation that has been opened.
void PerfettoValues::put_data(ProtobufWriter &out, const Format &format, Bytes data) {
    switch (format.kind) {
    case Format::Kind::unknown:
        return;
    case Format::Kind::aggregate:
        for (const Format::Field &field : format.fields) {
            const std::size_t begin = out.open(perfetto::annotation::entry);
            out.number(perfetto::annotation::name_id, field_name(field));
            if (field.bit_size == 0) {
                put_data(out, *field.format, behind(data, field.bit_offset / 8));
            } else if (const Value value =
                           load_bits(*field.format, data, field.bit_offset, field.bit_size);
                       value.captured) {
                put_scalar(out, field.format, value);
            }
            out.close(begin);
        }
        return;
    case Format::Kind::array:
        for (std::size_t i = 0; i < format.elements_in(data.size()); ++i) {
            const std::size_t begin = out.open(perfetto::annotation::element);
            put_data(out, *format.element, behind(data, i * format.element->bytes));
            out.close(begin);
        }
        return;
    case Format::Kind::text: {
        const std::string_view whole =
            as_text(data.first(std::min<std::size_t>(format.bytes, data.size())));
        return out.text(perfetto::annotation::string,
                        valid_utf8(whole.substr(0, whole.find('\0'))));
    }
    case Format::Kind::ip4:
    case Format::Kind::ip6:
    case Format::Kind::socket:
    case Format::Kind::cpus:
    case Format::Kind::characters:
    case Format::Kind::texts: {
        Value value;
        value.type = ARGTRACE_TYPE_BYTES;
        value.high = data.size();
        value.captured = true;
        return put_text(out, &format, value, data);
    }
    default:
        if (const Value value = load_value(format, data); value.captured)
            put_scalar(out, &format, value);
        return;
    }
}

void PerfettoValues::append(ProtobufWriter &out, unsigned field, std::uint64_t name,
                            const EventView &view, const Value &value, const Format *format) {
    if (!value.captured || is_absent(value, format))
        return;
    const std::size_t begin = out.open(field);
    out.number(perfetto::annotation::name_id, name);
    if (value.is_text()) {
        out.text(perfetto::annotation::string, valid_utf8(as_text(view.bytes_of(value))));
    } else if (value.type == ARGTRACE_TYPE_BYTES) {
        if (format)
            put_data(out, *format, view.bytes_of(value));
        else
            put_text(out, format, value, view.bytes);
    } else if (format &&
               (format->kind == Format::Kind::aggregate || format->kind == Format::Kind::array ||
                format->kind == Format::Kind::text || format->kind == Format::Kind::ip4 ||
                format->kind == Format::Kind::ip6 || format->kind == Format::Kind::socket ||
                format->kind == Format::Kind::cpus)) {
        const std::array<std::uint64_t, 2> words{value.low, value.high};
        put_data(out, *format, std::as_bytes(std::span(words)).first(type_info(value.type).size));
    } else {
        put_scalar(out, format, value);
    }
    out.close(begin);
}

} // namespace argtrace
