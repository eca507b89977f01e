// SPDX-License-Identifier: GPL-2.0-only
#include "render/value_writer.h"

#include <algorithm>
#include <array>
#include <arpa/inet.h>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <sys/un.h>

#include <fmt/format.h>

#include "model/type.h"
#include "render/floating_text.h"
#include "render/go_text.h"
#include "render/json.h"
#include "render/load_value.h"
#include "render/records.h"
#include "render/text.h"
#include "util/internet_address.h"

namespace argtrace {

namespace {

using Bytes = std::span<const std::byte>;

bool is_scalar(const Format &format) {
    return format.kind == Format::Kind::scalar || format.kind == Format::Kind::enumeration ||
           format.kind == Format::Kind::function || format.kind == Format::Kind::flags ||
           format.kind == Format::Kind::device || format.kind == Format::Kind::mode ||
           format.kind == Format::Kind::user_address || format.kind == Format::Kind::duration || format.kind == Format::Kind::go_pointer;
}

/// A value of Go's that is always the same: struct{}, [0]int.
bool has_no_bytes(const Format &format) {
    return format.is_go && format.bytes == 0 && (format.kind == Format::Kind::aggregate || format.kind == Format::Kind::array);
}

bool is_error(std::uint64_t address) {
    return address == 0 || address >= std::uint64_t(-4095);
}

/// How many characters stand in quotes as write_visible() has them. A NUL before a digit does, so that it is not read as one of three.
std::size_t plain_size(std::string_view text) {
    constexpr std::string_view escaped("\"\\\n\r\t\0", 6);
    std::size_t at = text.find_first_of(escaped);
    while (at < text.size() && text[at] == '\0' && at + 1 < text.size() && text[at + 1] >= '0' && text[at + 1] <= '9')
        at = text.find_first_of(escaped, at + 1);
    return std::min(at, text.size());
}

/// Appends text as C writes it, in quotes.
void append_quoted(Line &out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const std::size_t plain = plain_size(text);
        append_visible(out, text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty())
            break;
        const char character = text.front();
        text.remove_prefix(1);
        out += '\\';
        out += character == '\n'   ? 'n'
               : character == '\r' ? 'r'
               : character == '\t' ? 't'
               : character == '\0' ? '0'
                                   : character;
    }
    out += '"';
}

std::string_view as_text(Bytes data) {
    return {reinterpret_cast<const char *>(data.data()), data.size()};
}

bool is_unix(Bytes address) {
    sa_family_t family = AF_UNSPEC;
    if (address.size() >= sizeof(family))
        std::memcpy(&family, address.data(), sizeof(family));
    return family == AF_UNIX;
}

std::string_view up_to_nul(std::string_view text) {
    return text.substr(0, text.find('\0'));
}

} // namespace

bool is_absent(const Value &value, const Format *format) {
    return value.captured && value.type == ARGTRACE_TYPE_BYTES && value.high == 0 && format &&
           format->bytes > 0 && !format->may_be_empty;
}

void ValueWriter::append(Line &out, const EventView &view, const Value &value,
                         const Format *format) {
    const bool bytes = value.type == ARGTRACE_TYPE_BYTES;
    if (value.captured && value.is_text()) {
        append_string(out, as_text(view.bytes_of(value)));
        if (value.cut && style_ == Style::text)
            out += "...";
    } else if (!value.captured && format && has_no_bytes(*format)) {
        append_formatted(out, *format, {});
    } else if (!value.captured || (!format && !bytes)) {
        append_value(out, value);
    } else if (!format) {
        append_bytes(out, view.bytes_of(value), value.cut);
    } else if (is_absent(value, format)) {
        out += style_ == Style::json ? "null" : "-";
    } else if (bytes && format->kind == Format::Kind::texts) {
        append_texts(out, view.bytes_of(value), value.cut);
    } else if (bytes && format->kind == Format::Kind::records) {
        append_records(out, *format, view.bytes_of(value), value.cut);
    } else if (bytes && format->kind == Format::Kind::array) {
        append_array(out, *format, view.bytes_of(value), value.cut);
    } else if (bytes) {
        append_formatted(out, *format, view.bytes_of(value));
        if (value.cut && format->kind == Format::Kind::characters && style_ == Style::text)
            out += "...";
    } else if (is_scalar(*format)) {
        append_scalar(out, *format, value);
    } else { // a struct that was recorded as the number it fills
        const std::array<std::uint64_t, 2> words{value.low, value.high};
        append_formatted(out, *format,
                         std::as_bytes(std::span(words)).first(type_info(value.type).size));
    }
}

ValueWriter::Known::Known(const Probe &probe, Described which) : formats(probe), parts(probe) {
    const bool recorded = formats.are_described();
    if (which == Described::none || (which == Described::recorded && !recorded))
        return;
    described.emplace(probe, Calls::shared());
    if (!recorded && !described->is_known())
        described.reset();
}

const ValueWriter::Known &ValueWriter::find_other(const Probe &probe) {
    last_ = &known_.try_emplace(&probe, probe, which_).first->second;
    last_probe_ = &probe;
    return *last_;
}

void ValueWriter::append_value(Line &out, const Value &value) const {
    if (style_ == Style::json)
        append_json_value(out, value);
    else
        append_text_value(out, value);
}

void ValueWriter::append_bytes(Line &out, Bytes data, bool cut) const {
    const bool json = style_ == Style::json;
    const std::string_view separator = json ? "" : " ";
    out += json ? '"' : '{';
    for (std::size_t i = 0; i < data.size(); ++i)
        fmt::format_to(std::back_inserter(out), "{}{:02x}", i > 0 ? separator : "",
                       std::to_integer<unsigned>(data[i]));
    if (cut && !json)
        out += " ...";
    out += json ? '"' : '}';
}

void ValueWriter::append_name(Line &out, std::string_view name) const {
    if (style_ == Style::json)
        append_json_string(out, name);
    else
        out += name;
}

void ValueWriter::append_scalar(Line &out, const Format &format, const Value &value) {
    if (value.captured && format.kind == Format::Kind::flags) {
        append_flags(out, format, value);
        return;
    }
    if (format.kind == Format::Kind::device || format.kind == Format::Kind::mode) {
        append_number(out, format, value);
        return;
    }
    if (value.captured && format.kind == Format::Kind::user_address) {
        const std::string_view quote = style_ == Style::json ? "\"" : "";
        out += quote;
        out.append_hex(value.low);
        out += quote;
        return;
    }
    if (value.captured && format.kind == Format::Kind::go_pointer) {
        append_go_pointer(out, value.low);
        return;
    }
    if (value.captured && format.kind == Format::Kind::duration && style_ == Style::text) {
        out += go_duration(static_cast<std::int64_t>(value.low));
        return;
    }
    std::string_view name;
    if (value.captured && format.kind == Format::Kind::enumeration)
        name = format.name_of(value.low);
    else if (value.captured && format.kind == Format::Kind::function && !is_error(value.low))
        name = names_.function(kernel_place(value.low));

    if (name.empty())
        append_value(out, value);
    else
        append_name(out, name);
}

void ValueWriter::append_go_pointer(Line &out, std::uint64_t address) const {
    const bool json = style_ == Style::json;
    if (!json && address == 0) {
        out += "nil";
        return;
    }
    out += json ? "\"" : "";
    out.append_hex(address);
    out += json ? "\"" : "";
}

// Those of most bits first, and what has no name as a number.
void ValueWriter::append_flags(Line &out, const Format &format, const Value &value) const {
    std::uint64_t left = value.low;
    if (format.bytes < sizeof(left))
        left &= (std::uint64_t{1} << 8 * format.bytes) - 1;
    std::string text;
    for (const Format::Enumerator &flag : format.names) {
        const bool is_zero = flag.value == 0;
        if (is_zero ? left != 0 || !text.empty() : (left & flag.value) != flag.value)
            continue;
        text += (text.empty() ? "" : "|") + flag.name;
        left &= ~flag.value;
    }
    if (text.empty()) {
        append_value(out, value);
        return;
    }
    if (left != 0)
        text += fmt::format("|{:#x}", left);
    append_name(out, text);
}

// include/linux/kdev_t.h: 20 bits are the minor number.
void ValueWriter::append_number(Line &out, const Format &format, const Value &value) const {
    if (style_ == Style::json || !value.captured)
        append_value(out, value);
    else if (format.kind == Format::Kind::device)
        fmt::format_to(std::back_inserter(out), "{}:{}", value.low >> 20, value.low & 0xfffff);
    else
        fmt::format_to(std::back_inserter(out), "{:#o}", value.low);
}

// As numbers of 128 bits are in JSON: few readers could hold it.
void ValueWriter::append_long_number(Line &out, const Format &format, Bytes data) const {
    const std::string text = format.kind == Format::Kind::extended ? extended_text(data) : quad_text(data);
    if (text.empty())
        append_value(out, Value{});
    else
        append_name(out, text);
}

void ValueWriter::append_address(Line &out, const Format &format, Bytes data) const {
    const bool ip4 = format.kind == Format::Kind::ip4;
    const std::size_t size = ip4 ? sizeof(in_addr) : sizeof(in6_addr);
    if (data.size() < size)
        append_value(out, Value{});
    else
        append_name(out, address_text(ip4 ? AF_INET : AF_INET6, data.data()));
}

// What the process gave, which may be cut off or no address at all.
void ValueWriter::append_socket_address(Line &out, Bytes data) const {
    sockaddr_in6 six{};
    sockaddr_in four{};
    std::memcpy(&four, data.data(), std::min(data.size(), sizeof(four)));
    std::memcpy(&six, data.data(), std::min(data.size(), sizeof(six)));
    const bool is_whole = data.size() >= sizeof(four) || four.sin_family != AF_INET;
    if (data.size() < sizeof(four.sin_family) || !is_whole) {
        append_value(out, Value{});
    } else if (four.sin_family == AF_INET) {
        append_name(out, endpoint_text(AF_INET, &four.sin_addr, ntohs(four.sin_port)));
    } else if (four.sin_family == AF_INET6 && data.size() >= sizeof(six)) {
        append_name(out, endpoint_text(AF_INET6, &six.sin6_addr, ntohs(six.sin6_port)));
    } else if (four.sin_family == AF_UNIX) {
        append_unix_name(out, as_text(data.subspan(sizeof(four.sin_family))));
    } else {
        append_name(out, fmt::format("family {}", four.sin_family));
    }
}

// unix(7): one that is not a path begins with a NUL, for which '@' stands, as in other tools.
void ValueWriter::append_unix_name(Line &out, std::string_view text) const {
    const bool may_go_on = text.size() < sizeof(sockaddr_un::sun_path);
    const bool is_abstract = text.size() > 1 && text[0] == '\0' && text[1] != '\0';
    if (is_abstract)
        text.remove_prefix(1);
    const std::string_view name = up_to_nul(text);
    append_string(out, fmt::format("{}{}", is_abstract ? "@" : "", name));
    if (may_go_on && name.size() == text.size() && style_ == Style::text)
        out += "...";
}

// As the kernel writes it: 0-3,7.
void ValueWriter::append_cpus(Line &out, const Format &format, Bytes data) const {
    const std::size_t bits = std::min<std::size_t>(8 * data.size(), format.count > 0 ? format.count : 8 * data.size());
    const auto is_set = [&](std::size_t bit) {
        return bit < bits && std::to_integer<unsigned>(data[bit / 8]) >> bit % 8 & 1;
    };
    std::string text;
    for (std::size_t first = 0; first < bits; ++first) {
        if (!is_set(first))
            continue;
        std::size_t last = first;
        while (is_set(last + 1))
            ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ",", first);
        if (last > first)
            text += fmt::format("-{}", last);
        first = last;
    }
    append_name(out, text.empty() ? "none" : text);
}

void ValueWriter::append_formatted(Line &out, const Format &format, Bytes data) {
    switch (format.kind) {
    case Format::Kind::unknown:
        append_value(out, Value{});
        break;
    case Format::Kind::scalar:
    case Format::Kind::function:
    case Format::Kind::enumeration:
    case Format::Kind::flags:
    case Format::Kind::device:
    case Format::Kind::mode:
    case Format::Kind::user_address:
    case Format::Kind::duration:
    case Format::Kind::go_pointer:
        append_scalar(out, format, load_value(format, data));
        break;
    case Format::Kind::extended:
    case Format::Kind::quad:
        append_long_number(out, format, data);
        break;
    case Format::Kind::text:
        append_string(out, up_to_nul(as_text(
                               data.first(std::min<std::size_t>(format.bytes, data.size())))));
        break;
    case Format::Kind::characters:
        append_string(out, as_text(data));
        break;
    case Format::Kind::texts:
        append_texts(out, data, false);
        break;
    case Format::Kind::records:
        append_records(out, format, data, false);
        break;
    case Format::Kind::array:
        append_array(out, format, data);
        break;
    case Format::Kind::aggregate:
        append_fields(out, format, data);
        break;
    case Format::Kind::ip4:
    case Format::Kind::ip6:
        append_address(out, format, data);
        break;
    case Format::Kind::socket:
        // The bytes of a struct sockaddr_un are all that there are of a name, and zeros follow; of others it may go on.
        if (std::array<std::byte, sizeof(sockaddr_un)> whole{}; format.bytes == whole.size() && data.size() <= whole.size() && is_unix(data)) {
            std::copy(data.begin(), data.end(), whole.begin());
            append_socket_address(out, whole);
        } else {
            append_socket_address(out, data);
        }
        break;
    case Format::Kind::cpus:
        append_cpus(out, format, data);
        break;
    }
}

void ValueWriter::append_fields(Line &out, const Format &format, Bytes data) {
    const bool json = style_ == Style::json;
    std::string_view separator;
    out += '{';
    for (const Format::Field &field : format.fields) {
        out += separator;
        separator = json ? "," : format.is_go ? " " : ", ";
        append_name(out, field.name);
        out += json || format.is_go ? ':' : '=';
        if (field.bit_size == 0)
            append_formatted(out, *field.format, behind(data, field.bit_offset / 8));
        else
            append_scalar(out, *field.format,
                          load_bits(*field.format, data, field.bit_offset, field.bit_size));
    }
    out += '}';
}

// What follows the struct in its bytes is its last member, if that has no size of its own, or else called data.
void ValueWriter::append_record(Line &out, const Format &format, Bytes data) {
    const bool json = style_ == Style::json;
    const Format::Field *text = flexible_text(format);
    std::string_view separator;
    const auto append_begin = [&](std::string_view name) {
        out += separator;
        separator = json ? "," : ", ";
        append_name(out, name);
        out += json ? ':' : '=';
    };
    out += '{';
    for (const Format::Field &field : format.fields) {
        append_begin(field.name);
        if (&field == text)
            append_string(out, up_to_nul(as_text(behind(data, field.bit_offset / 8))));
        else if (field.bit_size == 0)
            append_formatted(out, *field.format, behind(data, field.bit_offset / 8));
        else
            append_scalar(out, *field.format, load_bits(*field.format, data, field.bit_offset, field.bit_size));
    }
    if (!text && data.size() > format.bytes) {
        append_begin("data");
        append_bytes(out, behind(data, format.bytes), false);
    }
    out += '}';
}

void ValueWriter::append_records(Line &out, const Format &format, Bytes data, bool cut) {
    const bool json = style_ == Style::json;
    std::size_t count = 0;
    out += '[';
    const bool is_whole = for_each_record(*format.element, data, [&](Bytes record) {
        if (++count > text_elements_max && !json)
            return;
        out += count == 1 ? "" : json ? "," : ", ";
        append_record(out, *format.element, record);
    });
    if (!json && (cut || !is_whole || count > text_elements_max))
        out += count == 0 ? "..." : ", ...";
    out += ']';
}

void ValueWriter::append_array(Line &out, const Format &format, Bytes all, bool cut) {
    const bool json = style_ == Style::json;
    const auto [data, ends] = format.elements_of(all);
    cut = format.ends_with_null ? !ends : cut || format.goes_on;
    const std::size_t count = format.elements_in(data.size());
    const std::size_t shown = json ? count : std::min(count, text_elements_max);
    out += '[';
    for (std::size_t i = 0; i < shown; ++i) {
        if (i > 0)
            out += json ? "," : format.is_go ? " " : ", ";
        append_formatted(out, *format.element,
                         behind(data, i * format.element->bytes));
    }
    if (shown < count || (cut && !json))
        out += shown == 0 ? "..." : format.is_go ? " ..." : ", ...";
    out += ']';
}

// Only the last of them may lack its NUL, if it was cut.
void ValueWriter::append_texts(Line &out, Bytes data, bool cut) const {
    std::string_view left = as_text(data), separator;
    out += '[';
    while (!left.empty()) {
        const std::string_view text = up_to_nul(left);
        const bool ends = text.size() < left.size();
        left.remove_prefix(text.size() + ends);
        out += separator;
        separator = style_ == Style::json ? "," : ", ";
        append_string(out, text);
        if (!ends && cut && style_ == Style::text)
            out += "...";
        else if (left.empty() && cut && style_ == Style::text)
            out += ", ...";
    }
    out += ']';
}

void ValueWriter::append_string(Line &out, std::string_view text) const {
    if (style_ == Style::json)
        append_json_string(out, text);
    else
        append_quoted(out, text);
}

} // namespace argtrace
