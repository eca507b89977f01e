// SPDX-License-Identifier: GPL-2.0-only
#include "render/call_value.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <utility>

#include <fmt/format.h>

#include "model/type.h"
#include "render/load_value.h"
#include "render/meaning.h"
#include "render/records.h"
#include "util/visible.h"

namespace argtrace {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t call_elements_max = 32;

/// The line of addresses of other families than those of the internet and of Unix.
constexpr std::string_view address_struct = "sockaddr";

std::uint64_t low_bits(std::uint64_t value, std::uint32_t bits) {
    return bits < 64 ? value & ((std::uint64_t{1} << bits) - 1) : value;
}

/// Text or bytes of which there may be none, in a call that has them.
bool may_be_empty(const Value &value, const Format *format) {
    return value.type != ARGTRACE_TYPE_BYTES || !format || format->kind == Format::Kind::characters || format->kind == Format::Kind::texts ||
           format->is_counted;
}

/// Such as sigset_t, a struct of one word. An array of so many bytes has elements.
bool is_word(const Format &format) {
    return format.kind == Format::Kind::aggregate && format.bytes <= sizeof(std::uint64_t);
}

/// How many bits a field has, be it no bit-field.
std::uint32_t bits_of(const Format::Field &field) {
    return field.bit_size != 0 ? field.bit_size : 8 * field.format->bytes;
}

/// The field at "_sifields._kill._pid", and the bit that it begins at; null: there is none.
std::pair<const Format::Field *, std::uint32_t> find_field(const Format &format, std::string_view path) {
    const Format *within = &format;
    std::uint32_t begin = 0;
    for (;;) {
        const auto field = std::ranges::find(within->fields, path.substr(0, path.find('.')), &Format::Field::name);
        if (field == within->fields.end())
            return {};
        if (path.size() == field->name.size())
            return {&*field, begin + field->bit_offset};
        path.remove_prefix(field->name.size() + 1);
        begin += field->bit_offset;
        within = field->format;
    }
}

const Format plain_text{.kind = Format::Kind::characters, .bytes = 1};

/// What has been read of one argument.
class Fetched {
public:
    /// Numbers are shown as the row of the call says, unless they are members.
    Fetched(Line &out, ValueWriter &values, const EventView &view, const DescribedCall &described, const DescribedCall::Choice &choice,
            std::size_t argument, std::size_t first, std::size_t count)
        : out_(out), values_(values), view_(view), formats_(values.formats(*view.event->probe)), described_(described), choice_(choice),
          argument_(argument), first_(first), end_(first + count) {
        if (const ShownAs *shown = described.shown_behind(choice, argument))
            shown_ = *shown;
    }

    /// What has that role for the argument: the first such part that has something; or one that may be empty. What another row has read is
    /// none of this call's.
    const Value *whole(DescribedCall::Role role) const {
        const Value *empty = nullptr;
        for (std::size_t i = first_; i < end_; ++i) {
            const Value &value = view_.values[i];
            if (!value.captured || described_.role(i) != role || !described_.is_of_row(choice_, i))
                continue;
            const bool is_data = value.type == ARGTRACE_TYPE_BYTES || value.is_text();
            if (!is_data || value.high > 0)
                return &value;
            const Format *format = formats_.argument(i);
            if (!empty && !(format && format->goes_on) && value.type != ARGTRACE_TYPE_PATH && may_be_empty(value, format))
                empty = &value;
        }
        return empty;
    }

    /// What it was before the call, and what it is now: [110 => 16].
    void append_change(const Value &before, const Value &after) {
        const std::optional<Value> first = number_of(before), second = number_of(after);
        if (!first || !second || first->low == second->low) {
            append(after, "");
            return;
        }
        out_ += '[';
        append_number(*first, 8 * type_info(first->type).size, shown_, nullptr);
        out_ += " => ";
        append_number(*second, 8 * type_info(second->type).size, shown_, nullptr);
        out_ += ']';
    }

    /// The value, which is the part at `path`, with what is known of its own parts.
    void append(const Value &value, const std::string &path) {
        const Format *format = format_of(value);
        const bool is_bytes = value.type == ARGTRACE_TYPE_BYTES && format;
        const bool has_parts = is_bytes && (format->kind == Format::Kind::array || format->kind == Format::Kind::aggregate);
        if (const std::optional<Value> number = number_of(value)) {
            const bool has_brackets = shown_.form == NumberForm::signal_set || shown_.form == NumberForm::bit_set;
            out_ += has_brackets ? "" : "[";
            append_number(*number, 8 * type_info(number->type).size, shown_, is_bytes ? nullptr : format);
            out_ += has_brackets ? "" : "]";
        } else if (value.type == ARGTRACE_TYPE_BYTES && shown_.form == NumberForm::bit_set) {
            out_ += bit_set_text(view_.bytes_of(value));
        } else if (is_bytes && format->ends_with_null && shown_.form == NumberForm::variables) {
            append_variables(*format, view_.bytes_of(value));
        } else if (is_bytes && format->kind == Format::Kind::records) {
            append_records(*format, view_.bytes_of(value), path, value.cut);
        } else if (is_bytes && format->kind == Format::Kind::texts && value.high == 0) {
            out_ += "[]";
        } else if (is_bytes && format->kind == Format::Kind::socket) {
            append_address(*format, within_room(view_.bytes_of(value)), path);
        } else if (is_bytes && format->kind == Format::Kind::characters) {
            values_.append_formatted(out_, *format, view_.bytes_of(value));
            out_ += value.cut ? "..." : "";
        } else if (has_parts) {
            const auto [data, ends] = format->elements_of(view_.bytes_of(value));
            append_parts(*format, data, path, format->ends_with_null ? !ends : value.cut || format->goes_on);
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
            if (const Value &value = view_.values[i]; is_numbered(name_of(i), name) && described_.is_of_row(choice_, i) && value.captured && has_record(value, format) && ((format && may_be_empty(value, format)) || !is_absent(value, format)) &&
                                                      described_.has_part(choice_, view_, argument_, name))
                return &value;
        }
        return nullptr;
    }

    /// Where it is one of records(), whether there is room for one.
    static bool has_record(const Value &value, const Format *format) {
        return !format || format->kind != Format::Kind::records || value.high >= format->element->bytes;
    }

    /// Which only() makes bytes of. Nothing of what is no number.
    std::optional<Value> number_of(const Value &value) const {
        const Format *format = format_of(value);
        if (value.type == ARGTRACE_TYPE_BYTES && format && format->kind == Format::Kind::scalar)
            return load_value(*format, view_.bytes_of(value));
        const TypeClass type = type_info(value.type).type_class;
        return type == TypeClass::integer || type == TypeClass::address ? std::optional(value) : std::nullopt;
    }

    const Format *format_of(const Value &value) const { return formats_.argument(static_cast<std::size_t>(&value - view_.values.data())); }

    void append_number(const Value &value, std::uint32_t bits, const ShownAs &shown, const Format *format) {
        if (!value.captured || !values_.append_shown(out_, shown, low_bits(value.low, bits)))
            values_.append(out_, view_, value, format);
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
        const std::size_t shown = std::min(count, call_elements_max);
        const ShownAs of_each = shown_;
        out_ += '[';
        for (std::size_t i = 0; i < shown; ++i) {
            out_ += i > 0 ? ", " : "";
            shown_ = of_each;
            append_part(*format.element, behind(data, i * format.element->bytes), fmt::format("{}[{}]", path, i));
        }
        out_ += shown < count || cut ? ", ...]" : "]";
    }

    /// As the address, and how many of them there are: 0x7ffd1c0a4b60 /* 23 vars */
    void append_variables(const Format &format, Bytes data) {
        const auto [pointers, ends] = format.elements_of(data);
        const std::size_t count = pointers.size() / format.element->bytes;
        append_number(view_.values[argument_], 64, shown_, nullptr);
        out_ += fmt::format(" /* {}{} var{} */", count, ends ? "" : " or more", count == 1 && ends ? "" : "s");
    }

    void append_records(const Format &format, Bytes data, const std::string &path, bool cut) {
        std::size_t count = 0;
        out_ += '[';
        const bool is_whole = for_each_record(*format.element, data, [&](Bytes record) {
            if (++count > call_elements_max)
                return;
            out_ += count > 1 ? ", " : "";
            append_members(*format.element, record, fmt::format("{}[{}]", path, count - 1));
        });
        out_ += count > call_elements_max || cut || !is_whole ? count == 0 ? "...]" : ", ...]" : "]";
    }

    /// As many of the bytes as the program had room for: what is behind them the call has not written.
    Bytes within_room(Bytes data) const {
        const Value *room = part(room_part);
        const std::optional<Value> number = room ? number_of(*room) : std::nullopt;
        return number ? data.first(std::min<std::uint64_t>(data.size(), low_bits(number->low, 32))) : data;
    }

    void append_address(const Format &format, Bytes data, const std::string &path) {
        if (is_described_address(data)) {
            append_members(nullptr, *Calls::shared().structure(address_struct), data, path);
            return;
        }
        out_ += '{';
        values_.append_formatted(out_, format, data);
        out_ += '}';
    }

    /// Those of the table, or all.
    void append_members(const Format &format, Bytes data, const std::string &path) {
        if (const CallStruct *known = shown_.structure ? std::exchange(shown_.structure, nullptr) : Calls::shared().structure(format.name)) {
            append_members(&format, *known, data, path);
            return;
        }
        std::string_view separator;
        out_ += '{';
        for (const Format::Field &field : format.fields)
            if (has_bits(data, field.bit_offset, field)) {
                out_ += separator;
                separator = ", ";
                out_ += field.name;
                out_ += '=';
                append_member(field, field.bit_offset, {}, data, part_of(path, field.name));
            }
        out_ += '}';
    }

    /// A program may know the first members alone of a struct that grows with the kernel. Null: nothing but the table describes the bytes.
    void append_members(const Format *format, const CallStruct &known, Bytes data, const std::string &path) {
        const auto whole = std::ranges::find_if(known.members, [&](const CallStruct::Member &member) { return member.is_whole && is_shown(member, format, data); });
        if (whole != known.members.end()) {
            append_known(*whole, format, data, path);
            return;
        }
        std::string_view separator;
        out_ += '{';
        for (const CallStruct::Member &member : known.members) {
            if (member.is_whole || !is_shown(member, format, data))
                continue;
            out_ += separator;
            separator = ", ";
            out_ += member.name;
            out_ += '=';
            append_known(member, format, data, path);
        }
        if (known.has_more) {
            out_ += separator;
            out_ += "...";
        }
        out_ += '}';
    }

    void append_known(const CallStruct::Member &member, const Format *format, Bytes data, const std::string &path) {
        if (member.raw) {
            append_raw(member, raw_bytes(format, data), path);
            return;
        }
        const auto [field, begin] = find_field(*format, member.path);
        if (field == flexible_text(*format))
            values_.append_formatted(out_, plain_text, text_of(behind(data, begin / 8)));
        else
            append_member(*field, begin, member.shown, data, part_of(path, member.path));
    }

    /// What no type describes: a number, or all that there are; bytes as text, or as the members of another line.
    void append_raw(const CallStruct::Member &member, Bytes data, const std::string &path) {
        const RawPart &raw = *member.raw;
        if (raw.index) {
            out_ += raw_text(member.shown, *raw.number(data, *raw.index), raw);
        } else if (member.shown.structure) {
            append_members(nullptr, *member.shown.structure, data, path);
        } else if (raw.is_text) {
            values_.append_formatted(out_, plain_text, data);
        } else {
            const std::size_t count = data.size() / raw.bytes;
            out_ += '[';
            for (std::uint32_t i = 0; i < std::min(count, call_elements_max); ++i) {
                out_ += i > 0 ? ", " : "";
                out_ += raw_text(member.shown, *raw.number(data, i), raw);
            }
            out_ += count > call_elements_max ? ", ...]" : "]";
        }
    }

    static std::string raw_text(const ShownAs &shown, std::uint64_t number, const RawPart &raw) {
        std::string text = shown.text(number);
        return text.empty() ? number_text(raw.bytes == 8 ? NumberForm::s64 : NumberForm::s32, number) : text;
    }

    /// The bytes that parts without a type are in: behind the struct, if there is one.
    static Bytes raw_bytes(const Format *format, Bytes data) { return format ? behind(data, format->bytes) : data; }

    static Bytes text_of(Bytes data) { return data.first(static_cast<std::size_t>(std::ranges::find(data, std::byte{0}) - data.begin())); }

    static std::string part_of(const std::string &path, const std::string &member) { return path.empty() ? member : path + '.' + member; }

    static bool has_bits(Bytes data, std::uint32_t begin, const Format::Field &field) { return begin + bits_of(field) <= 8 * data.size(); }

    static bool is_shown(const CallStruct::Member &member, const Format *format, Bytes data) {
        if (!std::ranges::all_of(member.conditions, [&](const CallStruct::Condition &condition) {
                const auto number = number_at(condition.path, condition.raw, format, data);
                return number && condition.test.accepts(*number);
            }))
            return false;
        if (member.raw)
            return member.raw->is_there(raw_bytes(format, data));
        const auto [field, begin] = format ? find_field(*format, member.path) : std::pair<const Format::Field *, std::uint32_t>();
        return field && has_bits(data, begin, *field);
    }

    static std::optional<std::uint64_t> number_at(const std::string &path, const std::optional<RawPart> &raw, const Format *format, Bytes data) {
        if (raw)
            return raw->index ? raw->number(raw_bytes(format, data), *raw->index) : std::nullopt;
        const auto [field, begin] = format ? find_field(*format, path) : std::pair<const Format::Field *, std::uint32_t>();
        const std::uint32_t bits = field ? bits_of(*field) : 0;
        if (bits == 0 || bits > 64)
            return std::nullopt;
        return low_bits(load_bits(*field->format, data, begin, bits).low, bits);
    }

    /// Whether it is one that other tools have no short form of.
    static bool is_described_address(Bytes data) {
        constexpr std::size_t inet_bytes = 16, inet6_bytes = 28;
        const CallStruct *known = Calls::shared().structure(address_struct);
        const auto family = RawPart{2}.number(data, 0);
        if (!known || !family)
            return false;
        return *family == AF_INET ? data.size() < inet_bytes : *family == AF_INET6 ? data.size() < inet6_bytes : *family != AF_UNIX || data.size() == sizeof(sa_family_t);
    }

    void append_member(const Format::Field &field, std::uint32_t begin, const ShownAs &shown, Bytes data, const std::string &path) {
        const Bytes own = behind(data, begin / 8);
        const Format::Kind kind = field.format->kind;
        const bool is_number = kind == Format::Kind::scalar || kind == Format::Kind::user_address || kind == Format::Kind::function ||
                               kind == Format::Kind::device || kind == Format::Kind::mode;
        if (is_word(*field.format) && shown.form != NumberForm::typed && own.size() >= field.format->bytes) {
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
        const Value value = field.bit_size == 0 ? load_value(*field.format, own) : load_bits(*field.format, data, begin, field.bit_size);
        if (const Value *behind_it = value.captured && value.low != 0 ? part(path) : nullptr) {
            append(*behind_it, path);
            return;
        }
        if (const Value *before = part(fmt::format("{}.{}", before_part, path)))
            append_before(*before, value, shown);
        append_number(value, bits_of(field), shown, field.format);
    }

    /// What a member was before the call, where it is another: 110 => 16.
    void append_before(const Value &before, const Value &after, const ShownAs &shown) {
        const std::optional<Value> number = number_of(before);
        if (!number || number->low == after.low)
            return;
        append_number(*number, 8 * type_info(number->type).size, shown, nullptr);
        out_ += " => ";
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
    const DescribedCall &described_;
    const DescribedCall::Choice &choice_;
    ShownAs shown_;
    std::size_t argument_, first_, end_;
};

/// The argument itself, by the row or by its type.
void append_itself(Line &out, ValueWriter &values, const EventView &view, const DescribedCall &described, const DescribedCall::Choice &choice,
                   std::size_t argument) {
    // BTF knows the names of an enum better.
    const Format *format = values.formats(*view.event->probe).argument(argument);
    const bool is_enum = format && format->has_names();
    const DescribedCall::Shown shown = is_enum ? DescribedCall::Shown() : described.shown(choice, view, argument);
    if (!shown.as || !values.append_shown(out, *shown.as, shown.number))
        values.append(out, view, view.values[argument], format);
}

} // namespace

void append_call_value(Line &out, ValueWriter &values, const EventView &view, const DescribedCall &described,
                       const DescribedCall::Choice &choice, std::size_t argument, std::size_t first, std::size_t count) {
    if (count == 0) {
        append_itself(out, values, view, described, choice, argument);
        return;
    }
    Fetched fetched(out, values, view, described, choice, argument, first, count);
    const Value *whole = described.has_fetched(choice, view, argument) ? fetched.whole(DescribedCall::Role::whole) : nullptr;
    if (const Value *before = fetched.whole(DescribedCall::Role::before)) {
        fetched.append_change(*before, whole ? *whole : *before);
        return;
    }
    if (whole) {
        fetched.append(*whole, "");
        return;
    }
    append_itself(out, values, view, described, choice, argument);
    const Value *path = fetched.whole(DescribedCall::Role::path);
    if (!path)
        return;
    const Bytes characters = view.bytes_of(*path);
    out += '<';
    write_visible(out, {reinterpret_cast<const char *>(characters.data()), characters.size()});
    out += '>';
}

} // namespace argtrace
