// SPDX-License-Identifier: GPL-2.0-only
#include "render/call_value.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/type.h"
#include "render/load_value.h"
#include "util/visible.h"

namespace argtrace {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view first_part = "value", path_part = "path";
constexpr std::size_t elements_max = 16; // that are shown of an array

std::uint64_t low_bits(std::uint64_t value, std::uint32_t bits) {
    return bits < 64 ? value & ((std::uint64_t{1} << bits) - 1) : value;
}

/// Bytes of which there may be none, in a call that has them.
bool may_be_empty(const Format *format) {
    return format && (format->kind == Format::Kind::characters || format->kind == Format::Kind::texts || format->is_counted);
}

bool is_nothing(const Value &value, const Format *format) {
    return is_absent(value, format) && !may_be_empty(format);
}

/// What has been read of one argument.
class Fetched {
public:
    /// Numbers are shown as `shown` says, unless they are members.
    Fetched(Line &out, ValueWriter &values, const EventView &view, std::size_t argument, std::size_t first, std::size_t count, const ShownAs *shown)
        : out_(out), values_(values), view_(view), formats_(values.formats(*view.event->probe)), shown_(shown ? *shown : ShownAs()), first_(first),
          count_(count), prefix_(view.event->probe->args[argument].name.size() + 1) {}

    /// The part of that name; null: there is none, or it could not be read.
    const Value *part(std::string_view name) const {
        for (std::size_t i = 0; i < count_; ++i)
            if (const Value &value = view_.values[first_ + i]; name_of(i) == name && value.captured && !is_nothing(value, formats_.argument(first_ + i)))
                return &value;
        return nullptr;
    }

    std::string_view name_of(std::size_t part) const {
        return std::string_view(view_.event->probe->args[first_ + part].name).substr(prefix_);
    }

    /// The value, which is the part at `path`, with what is known of its own parts.
    void append(const Value &value, const std::string &path) {
        const Format *format = formats_.argument(static_cast<std::size_t>(&value - view_.values.data()));
        const bool has_parts = format && (format->kind == Format::Kind::array || format->kind == Format::Kind::aggregate);
        const bool in_bytes = value.type == ARGTRACE_TYPE_BYTES && format && format->kind == Format::Kind::scalar; // of only()
        if (is_number(value) || in_bytes) {
            const Value number = in_bytes ? load_value(*format, view_.bytes_of(value)) : value;
            const bool is_set = shown_.form == NumberForm::signal_set; // which has brackets of its own
            out_ += is_set ? "" : "[";
            append_number(number, 8 * type_info(number.type).size, shown_, in_bytes ? nullptr : format);
            out_ += is_set ? "" : "]";
        } else if (format && format->kind == Format::Kind::characters) {
            values_.append_formatted(out_, *format, view_.bytes_of(value));
            out_ += value.cut ? "..." : "";
        } else if (!has_parts) {
            values_.append(out_, view_, value, format);
        } else if (value.type == ARGTRACE_TYPE_BYTES) {
            append_parts(*format, view_.bytes_of(value), path, value.cut);
        } else {
            const std::array<std::uint64_t, 2> words{value.low, value.high};
            append_parts(*format, std::as_bytes(std::span(words)).first(type_info(value.type).size), path, false);
        }
    }

private:
    static bool is_number(const Value &value) {
        const TypeClass type = type_info(value.type).type_class;
        return type == TypeClass::integer || type == TypeClass::address;
    }

    void append_number(const Value &value, std::uint32_t bits, const ShownAs &shown, const Format *format) {
        const std::string text = value.captured ? shown.text(low_bits(value.low, bits)) : std::string();
        if (text.empty())
            values_.append(out_, view_, value, format);
        else
            out_ += text;
    }

    void append_parts(const Format &format, Bytes data, const std::string &path, bool cut) {
        if (format.kind == Format::Kind::aggregate)
            append_members(format, data, path);
        else if (format.kind == Format::Kind::array)
            append_elements(format, data, path, cut);
        else if (format.kind == Format::Kind::scalar)
            append_number(load_value(format, data), 8 * format.bytes, shown_, &format);
        else
            values_.append_formatted(out_, format, data);
    }

    void append_elements(const Format &format, Bytes data, const std::string &path, bool cut) {
        const std::size_t count = format.is_counted ? data.size() / format.element->bytes : format.count;
        const std::size_t shown = std::min(count, elements_max);
        out_ += '[';
        for (std::size_t i = 0; i < shown; ++i) {
            out_ += i > 0 ? ", " : "";
            append_part(*format.element, data.subspan(std::min(i * format.element->bytes, data.size())), fmt::format("{}[{}]", path, i));
        }
        out_ += shown < count || cut ? ", ...]" : "]";
    }

    void append_members(const Format &format, Bytes data, const std::string &path) {
        const CallStruct *known = Calls::shared().structure(format.name);
        std::string_view separator;
        out_ += '{';
        const auto append_one = [&](const Format::Field &field, const ShownAs &shown) {
            out_ += separator;
            separator = ", ";
            out_ += field.name;
            out_ += '=';
            append_member(field, shown, data, path.empty() ? field.name : path + '.' + field.name);
        };
        if (!known)
            for (const Format::Field &field : format.fields)
                append_one(field, {});
        else
            for (const CallStruct::Member &member : known->members)
                if (const auto field = std::find_if(format.fields.begin(), format.fields.end(), [&](const auto &one) { return one.name == member.name; });
                    field != format.fields.end())
                    append_one(*field, member.shown);
        out_ += known && known->has_more ? ", ...}" : "}";
    }

    void append_member(const Format::Field &field, const ShownAs &shown, Bytes data, const std::string &path) {
        const Bytes own = data.subspan(std::min<std::size_t>(field.bit_offset / 8, data.size()));
        const Format::Kind kind = field.format->kind;
        const bool is_number = kind == Format::Kind::scalar || kind == Format::Kind::user_address || kind == Format::Kind::function ||
                               kind == Format::Kind::device || kind == Format::Kind::mode;
        // Such as sigset_t, a struct of one word.
        if (!is_number && shown.form != NumberForm::typed && field.format->bytes <= sizeof(std::uint64_t) && own.size() >= field.format->bytes) {
            std::uint64_t word = 0;
            std::memcpy(&word, own.data(), field.format->bytes);
            out_ += shown.text(word);
            return;
        }
        if (!is_number) {
            // Its elements are numbers of the member, not of the argument.
            const ShownAs of_argument = std::exchange(shown_, shown);
            append_part(*field.format, own, path);
            shown_ = of_argument;
            return;
        }
        if (const Value *value = part(path)) {
            append(*value, path);
            return;
        }
        const Value value = field.bit_size == 0 ? load_value(*field.format, own) : load_bits(*field.format, data, field.bit_offset, field.bit_size);
        const std::uint32_t bits = field.bit_size == 0 ? 8 * field.format->bytes : field.bit_size;
        append_number(value, bits, shown, field.format);
    }

    void append_part(const Format &format, Bytes data, const std::string &path) {
        if (const Value *value = part(path))
            append(*value, path);
        else
            append_parts(format, data, path, false);
    }

    Line &out_;
    ValueWriter &values_;
    const EventView &view_;
    const ProbeFormats &formats_;
    ShownAs shown_;
    std::size_t first_, count_, prefix_;
};

/// Whether a part stands for the argument, and does not belong to another part: "value", or "value.2" of another row.
bool is_whole(std::string_view name, std::string_view part) {
    return name == part || (name.starts_with(part) && name.size() > part.size() && name[part.size()] == '.' && name.find_first_not_of("0123456789", part.size() + 1) == name.npos);
}

/// Nothing was read of calls that have another row, or that have failed, and some files have no path.
bool is_empty(const Value &value, const Format *format) {
    return value.type == ARGTRACE_TYPE_PATH ? value.high == 0 : is_absent(value, format);
}

} // namespace

void append_call_value(Line &out, ValueWriter &values, const EventView &view, const DescribedCall &described,
                       const DescribedCall::Choice &choice, std::size_t argument, std::size_t first, std::size_t count) {
    const ProbeFormats &formats = values.formats(*view.event->probe);
    Fetched fetched(out, values, view, argument, first, count, described.shown_behind(choice, argument));
    const bool expected = described.has_fetched(choice, view, argument);
    const Value *path = nullptr, *whole = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
        const Value &value = view.values[first + i];
        const Format *format = formats.argument(first + i);
        const bool is_path = is_whole(fetched.name_of(i), path_part);
        if (!value.captured || !(is_path || (expected && is_whole(fetched.name_of(i), first_part))))
            continue;
        const Value *&found = is_path ? path : whole;
        if (!is_empty(value, format))
            found = found && !is_empty(*found, formats.argument(static_cast<std::size_t>(found - view.values.data()))) ? found : &value;
        else if (!is_path && may_be_empty(format) && !found)
            found = &value;
    }
    if (whole) {
        fetched.append(*whole, "");
        return;
    }
    // BTF knows the names of an enum better.
    const Format *format = formats.argument(argument);
    const bool is_enum = format && format->kind == Format::Kind::enumeration;
    const std::string text = is_enum ? std::string() : described.text(choice, view, argument);
    if (text.empty())
        values.append(out, view, view.values[argument], format);
    else
        out += text;
    if (!path)
        return;
    const Bytes characters = view.bytes_of(*path);
    out += '<';
    write_visible(out, {reinterpret_cast<const char *>(characters.data()), characters.size()});
    out += '>';
}

} // namespace argtrace
