// SPDX-License-Identifier: GPL-2.0-only
#include "render/call_value.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/type.h"
#include "render/load_value.h"
#include "render/meaning.h"
#include "util/visible.h"

namespace argtrace {

namespace {

using Bytes = std::span<const std::byte>;

std::uint64_t low_bits(std::uint64_t value, std::uint32_t bits) {
    return bits < 64 ? value & ((std::uint64_t{1} << bits) - 1) : value;
}

/// Bytes of which there may be none, in a call that has them.
bool may_be_empty(const Format *format) {
    return format && (format->kind == Format::Kind::characters || format->kind == Format::Kind::texts || format->is_counted);
}

/// Whether a part stands for the argument, and does not belong to another part: "value", or "value.2" of another row.
bool is_whole(std::string_view name, std::string_view part) {
    if (!name.starts_with(part))
        return false;
    name.remove_prefix(part.size());
    return name.empty() || (name.front() == '.' && name.find_first_not_of("0123456789", 1) == name.npos);
}

/// What has been read of one argument.
class Fetched {
public:
    /// Numbers are shown as `shown` says, unless they are members.
    Fetched(Line &out, ValueWriter &values, const EventView &view, std::size_t argument, std::size_t first, std::size_t count, const ShownAs *shown)
        : out_(out), values_(values), view_(view), formats_(values.formats(*view.event->probe)), shown_(shown ? *shown : ShownAs()),
          argument_(argument), first_(first), end_(first + count) {}

    /// What stands for the argument: the first part of that name, or of it with a number, that has something; or one that may be empty.
    const Value *whole(std::string_view name) const {
        const Value *empty = nullptr;
        for (std::size_t i = first_; i < end_; ++i) {
            const Value &value = view_.values[i];
            if (!value.captured || !is_whole(name_of(i), name))
                continue;
            if (!is_empty_meaning(value, formats_.argument(i)))
                return &value;
            if (!empty && may_be_empty(formats_.argument(i)))
                empty = &value;
        }
        return empty;
    }

    /// The value, which is the part at `path`, with what is known of its own parts.
    void append(const Value &value, const std::string &path) {
        const Format *format = formats_.argument(static_cast<std::size_t>(&value - view_.values.data()));
        const bool is_bytes = value.type == ARGTRACE_TYPE_BYTES && format;
        const bool in_bytes = is_bytes && format->kind == Format::Kind::scalar; // of only()
        const bool has_parts = is_bytes && (format->kind == Format::Kind::array || format->kind == Format::Kind::aggregate);
        if (is_number(value) || in_bytes) {
            const Value number = in_bytes ? load_value(*format, view_.bytes_of(value)) : value;
            const bool is_set = shown_.form == NumberForm::signal_set; // which has brackets of its own
            out_ += is_set ? "" : "[";
            append_number(number, 8 * type_info(number.type).size, shown_, in_bytes ? nullptr : format);
            out_ += is_set ? "" : "]";
        } else if (is_bytes && format->kind == Format::Kind::characters) {
            values_.append_formatted(out_, *format, view_.bytes_of(value));
            out_ += value.cut ? "..." : "";
        } else if (has_parts) {
            append_parts(*format, view_.bytes_of(value), path, value.cut);
        } else {
            values_.append(out_, view_, value, format);
        }
    }

private:
    std::string_view name_of(std::size_t value) const { return meaning_name(*view_.event->probe, argument_, value); }

    /// The part of that name; null: there is none, or nothing of it, or it could not be read.
    const Value *part(std::string_view name) const {
        for (std::size_t i = first_; i < end_; ++i) {
            const Format *format = formats_.argument(i);
            if (const Value &value = view_.values[i]; name_of(i) == name && value.captured && (may_be_empty(format) || !is_absent(value, format)))
                return &value;
        }
        return nullptr;
    }

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
        const std::size_t count = format.elements_in(data.size());
        const std::size_t shown = std::min(count, text_elements_max);
        out_ += '[';
        for (std::size_t i = 0; i < shown; ++i) {
            out_ += i > 0 ? ", " : "";
            append_part(*format.element, behind(data, i * format.element->bytes), fmt::format("{}[{}]", path, i));
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
        const Bytes own = behind(data, field.bit_offset / 8);
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
    std::size_t argument_, first_, end_;
};

} // namespace

void append_call_value(Line &out, ValueWriter &values, const EventView &view, const DescribedCall &described,
                       const DescribedCall::Choice &choice, std::size_t argument, std::size_t first, std::size_t count) {
    Fetched fetched(out, values, view, argument, first, count, described.shown_behind(choice, argument));
    if (const Value *whole = described.has_fetched(choice, view, argument) ? fetched.whole(whole_part) : nullptr) {
        fetched.append(*whole, "");
        return;
    }
    // BTF knows the names of an enum better.
    const Format *format = values.formats(*view.event->probe).argument(argument);
    const bool is_enum = format && format->kind == Format::Kind::enumeration;
    const std::string text = is_enum ? std::string() : described.text(choice, view, argument);
    if (text.empty())
        values.append(out, view, view.values[argument], format);
    else
        out += text;
    const Value *path = fetched.whole(path_part);
    if (!path)
        return;
    const Bytes characters = view.bytes_of(*path);
    out += '<';
    write_visible(out, {reinterpret_cast<const char *>(characters.data()), characters.size()});
    out += '>';
}

} // namespace argtrace
