// SPDX-License-Identifier: GPL-2.0-only
#include "btf/format.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <netinet/in.h>
#include <optional>
#include <set>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "btf/display_types.h"
#include "btf/kernel_types.h"
#include "model/type.h"
#include "model/type_name.h"

namespace argtrace {

namespace {

constexpr std::string_view array_suffixes[] = {"[]", "[*]", page_suffix, records_suffix};
constexpr int max_depth = 64;                // broken BTF may be circular,
constexpr std::uint64_t max_parts = 1 << 16; // or grow without end when it is followed

std::uint64_t cut(std::uint64_t value, std::uint32_t bytes) {
    return bytes < 8 ? value & ((1ull << 8 * bytes) - 1) : value;
}

/// Text that may be empty: "string" is Go's, which is never absent.
bool is_counted_text(const Argument &argument) {
    return argument.type == ARGTRACE_TYPE_BYTES && (argument.type_name == "char[*]" || argument.type_name == "string");
}

} // namespace

std::string_view Format::name_of(std::uint64_t value) const {
    value = cut(value, bytes);
    auto found = std::lower_bound(
        names.begin(), names.end(), value,
        [](const Enumerator &one, std::uint64_t wanted) { return one.value < wanted; });
    return found != names.end() && found->value == value ? found->name : std::string_view();
}

std::pair<std::span<const std::byte>, bool> Format::elements_of(std::span<const std::byte> data) const {
    if (!ends_with_null)
        return {data, true};
    const std::uint64_t null = 0;
    for (std::size_t at = 0; at + sizeof(null) <= data.size(); at += sizeof(null))
        if (std::memcmp(data.data() + at, &null, sizeof(null)) == 0)
            return {data.first(at), true};
    return {data, false};
}

/// Makes formats of BTF, which may come from anywhere.
class ProbeFormats::Builder {
public:
    Builder(const btf *types, std::deque<Format> &formats, bool is_go) : types_(types), formats_(formats), is_go_(is_go) {}

    const Format *build(std::uint32_t id, int depth = 0) {
        if (auto known = known_.find(id); known != known_.end())
            return known->second;
        const btf_type *type = id != 0 ? btf__type_by_id(types_, id) : nullptr;
        if (!type || depth > max_depth)
            return &unknown;
        // Entered only when it is complete: a circle ends at max_depth instead.
        Format made = make(type, depth);
        if (made.parts > max_parts)
            made = Format{};
        return known_[id] = &formats_.emplace_back(std::move(made));
    }

    static const Format unknown;

private:
    std::string name(std::uint32_t offset) const {
        const char *name = btf__name_by_offset(types_, offset);
        return name ? name : "";
    }

    Format make(const btf_type *type, int depth) {
        Format format;
        switch (btf_kind(type)) {
        case BTF_KIND_INT:
            set_scalar(format, type->size, int_type(type));
            if (is_go_ && format.type == ARGTRACE_TYPE_S64 && name(type->name_off) == "time.Duration")
                format.kind = Format::Kind::duration;
            break;
        case BTF_KIND_PTR: {
            set_scalar(format, 8, ARGTRACE_TYPE_PTR);
            const btf_type *target = type->type ? btf__type_by_id(types_, type->type) : nullptr;
            if (is_go_)
                format.kind = Format::Kind::go_pointer;
            else if (target && btf_is_func_proto(target))
                format.kind = Format::Kind::function;
            break;
        }
        case BTF_KIND_ENUM:
        case BTF_KIND_ENUM64:
            set_scalar(format, type->size, integer_type(type->size, btf_kflag(type)));
            if (format.kind == Format::Kind::scalar)
                set_names(format, type);
            break;
        case BTF_KIND_TYPEDEF: // see display_types()
            format = *build(type->type, depth + 1);
            format.is_big_endian = is_big_endian_name(name(type->name_off));
            break;
        case BTF_KIND_FLOAT: // of programs: the kernel computes with integers
            format.bytes = type->size;
            set_scalar(format, type->size, floating_type(type->size));
            if (type->size == 16)
                format.kind = is_x87_name(name(type->name_off)) ? Format::Kind::extended : Format::Kind::quad;
            break;
        case BTF_KIND_ARRAY:
            set_array(format, btf_array(type)->type, btf_array(type)->nelems, depth);
            break;
        case BTF_KIND_STRUCT:
        case BTF_KIND_UNION:
            format.kind = Format::Kind::aggregate;
            format.is_go = is_go_;
            format.bytes = type->size;
            if (const auto address = address_kind(type)) {
                format.kind = *address;
                if (format.kind == Format::Kind::cpus)
                    format.count = possible_cpus_of(type);
                break;
            }
            format.name = name(type->name_off);
            add_fields(format, type, 0, depth);
            break;
        default:
            break;
        }
        return format;
    }

    // include/uapi/linux/in.h, in6.h, socket.h; include/linux/socket.h
    std::optional<Format::Kind> address_kind(const btf_type *type) const {
        const std::string called = name(type->name_off);
        if (called == "in_addr" && type->size == sizeof(in_addr))
            return Format::Kind::ip4;
        if (called == "in6_addr" && type->size == sizeof(in6_addr))
            return Format::Kind::ip6;
        const bool socket = called == "sockaddr" || called == "sockaddr_in" ||
                            called == "sockaddr_in6" || called == "sockaddr_un" ||
                            called == "__kernel_sockaddr_storage";
        if (socket && type->size >= sizeof(sockaddr_in))
            return Format::Kind::socket;
        if (called == "cpumask")
            return Format::Kind::cpus;
        return std::nullopt;
    }

    // What its declaration tag says, behind how that begins; see display_types().
    std::optional<std::string> tag_of(const btf_type *type, std::string_view begin) const {
        const auto count = btf__type_cnt(types_);
        for (std::uint32_t id = 1; id < count; id++) {
            const btf_type *tag = btf__type_by_id(types_, id);
            if (!btf_is_decl_tag(tag) || btf__type_by_id(types_, tag->type) != type)
                continue;
            if (std::string text = name(tag->name_off); text.starts_with(begin))
                return text.substr(begin.size());
        }
        return std::nullopt;
    }

    bool is_flags(const btf_type *type) const { return tag_of(type, "flags") == ""; }

    // 0: all of them.
    std::uint32_t possible_cpus_of(const btf_type *type) const {
        std::uint32_t cpus = 0;
        if (const auto number = tag_of(type, "cpus:"))
            std::from_chars(number->data(), number->data() + number->size(), cpus);
        return cpus;
    }

    std::uint8_t int_type(const btf_type *type) const {
        const int encoding = btf_int_encoding(type);
        if ((encoding & BTF_INT_BOOL) && type->size == 1)
            return ARGTRACE_TYPE_BOOL;
        if (type->size == 1 && name(type->name_off) == "char")
            return encoding & BTF_INT_SIGNED ? ARGTRACE_TYPE_CHAR : ARGTRACE_TYPE_UCHAR;
        return integer_type(type->size, encoding & BTF_INT_SIGNED);
    }

    static void set_scalar(Format &format, std::uint32_t bytes, std::uint8_t type) {
        if (type == ARGTRACE_TYPE_END)
            return;
        format.kind = Format::Kind::scalar;
        format.bytes = bytes;
        format.type = type;
    }

    void set_names(Format &format, const btf_type *type) const {
        format.kind = Format::Kind::enumeration;
        for (int i = 0; i < btf_vlen(type); i++) {
            const std::uint64_t value = btf_is_enum64(type)
                                            ? btf_enum64_value(&btf_enum64(type)[i])
                                            : static_cast<std::uint64_t>(btf_enum(type)[i].val);
            const std::uint32_t offset =
                btf_is_enum64(type) ? btf_enum64(type)[i].name_off : btf_enum(type)[i].name_off;
            format.names.push_back({cut(value, format.bytes), name(offset)});
        }
        const bool is_told = btf_is_enum64(type) && is_flags(type);
        if (is_told || are_flags(format.names)) {
            format.kind = Format::Kind::flags;
            std::stable_sort(format.names.begin(), format.names.end(),
                             [](const auto &a, const auto &b) {
                                 return std::popcount(a.value) > std::popcount(b.value);
                             });
            return;
        }
        auto less = [](const auto &a, const auto &b) { return a.value < b.value; };
        auto same = [](const auto &a, const auto &b) { return a.value == b.value; };
        std::stable_sort(format.names.begin(), format.names.end(), less); // the first one stays
        format.names.erase(std::unique(format.names.begin(), format.names.end(), same),
                           format.names.end());
    }

    // Whether the values of an enum are such as are combined: three bits at least, and values that are made of these, but not all numbers
    // from 1 on, as those have that were counted.
    static bool are_flags(std::span<const Format::Enumerator> names) {
        std::set<std::uint64_t> values;
        std::uint64_t bits = 0;
        for (const Format::Enumerator &one : names) {
            if (one.value != 0)
                values.insert(one.value);
            if (std::has_single_bit(one.value))
                bits |= one.value;
        }
        const bool are_made_of_bits = std::ranges::all_of(values, [bits](std::uint64_t value) { return (value & ~bits) == 0; });
        return are_made_of_bits && std::popcount(bits) >= 3 && values.size() < *values.rbegin();
    }

    void set_array(Format &format, std::uint32_t element, std::uint32_t count, int depth) {
        format.element = build(element, depth + 1);
        const std::uint64_t bytes = std::uint64_t{count} * format.element->bytes;
        if (bytes > UINT16_MAX) // more than BYTES can hold
            return;
        const bool is_text =
            format.element->kind == Format::Kind::scalar &&
            type_info(format.element->type).type_class == TypeClass::character;
        format.kind = is_text ? Format::Kind::text : Format::Kind::array;
        format.is_go = is_go_;
        format.bytes = static_cast<std::uint32_t>(bytes);
        format.count = bytes ? count : 0; // elements without a size say nothing
        format.parts = is_text ? 1 : 1 + format.count * format.element->parts;
    }

    void add_fields(Format &format, const btf_type *type, std::uint32_t base, int depth) {
        for (int i = 0; i < btf_vlen(type) && format.parts++ <= max_parts; i++) {
            const std::uint32_t id = btf_members(type)[i].type;
            const std::uint32_t offset = base + btf_member_bit_offset(type, i);
            std::string member = name(btf_members(type)[i].name_off);
            const btf_type *inner = btf__type_by_id(types_, id);
            if (member.empty() && inner && btf_is_composite(inner)) {
                if (depth < max_depth)
                    add_fields(format, inner, offset, depth + 1);
                continue;
            }
            const Format *made = build(id, depth + 1);
            format.parts += made->parts;
            format.fields.push_back(
                {std::move(member), offset, btf_member_bitfield_size(type, i), made});
        }
    }

    const btf *types_;
    std::deque<Format> &formats_;
    const bool is_go_;
    std::unordered_map<std::uint32_t, const Format *> known_;
};

const Format ProbeFormats::Builder::unknown;

ProbeFormats::ProbeFormats(const Probe &probe) {
    static const Format device{.kind = Format::Kind::device, .type = ARGTRACE_TYPE_U32, .bytes = 4};
    static const Format mode{.kind = Format::Kind::mode, .type = ARGTRACE_TYPE_U16, .bytes = 2};
    static const Format user{.kind = Format::Kind::user_address, .type = ARGTRACE_TYPE_PTR, .bytes = 8};
    static const Format characters{.kind = Format::Kind::characters, .bytes = 1};
    static const Format counted{.kind = Format::Kind::characters, .bytes = 1, .may_be_empty = true};
    static const Format texts{.kind = Format::Kind::texts, .bytes = 1};
    static const Format pointers{.kind = Format::Kind::array, .bytes = 8, .is_counted = true, .ends_with_null = true, .element = &user};
    static const Format page_pointers{.kind = Format::Kind::array, .bytes = 8, .is_counted = true, .goes_on = true, .ends_with_null = true, .element = &user};
    for (const Argument &argument : probe.args)
        arguments_.push_back(
            argument.type == device.type && argument.type_name == "dev_t"                       ? &device
            : argument.type == mode.type && argument.type_name == "umode_t"                     ? &mode
            : argument.type == user.type && has_user_mark(argument.type_name)                   ? &user
            : argument.type == ARGTRACE_TYPE_BYTES && argument.type_name == "char[]"   ? &characters
            : is_counted_text(argument)                                                ? &counted
            : argument.type == ARGTRACE_TYPE_BYTES && argument.type_name == "char *[]" ? &texts
            : argument.type == ARGTRACE_TYPE_BYTES && argument.type_name == pointers_type      ? &pointers
            : argument.type == ARGTRACE_TYPE_BYTES && argument.type_name == page_pointers_type ? &page_pointers
                                                                                       : nullptr);
    if (!probe.types.empty())
        add_described(probe);
}

// Recordings of earlier versions have no typedefs in their BTF, but this name.
const Format *ProbeFormats::scalar_of(const Format &format, const std::string &type_name) {
    Format &made = formats_.emplace_back(format);
    made.is_big_endian = made.is_big_endian || type_name.starts_with("__be");
    return &made;
}

const Format *ProbeFormats::array_of(const Format &element, std::string_view type_name) {
    const bool are_records = type_name.ends_with(records_suffix) && element.kind == Format::Kind::aggregate;
    return &formats_.emplace_back(Format{.kind = are_records ? Format::Kind::records : Format::Kind::array, .bytes = element.bytes, .is_counted = true,
                                         .goes_on = type_name.ends_with(page_suffix), .may_be_empty = type_name.ends_with("[*]"), .is_go = are_of_go_, .element = &element, .parts = element.parts});
}

void ProbeFormats::add_described(const Probe &probe) {
    const std::span<const std::byte> types = probe.types;
    libbpf_set_print(nullptr);
    BtfPtr btf(btf__new(types.data(), static_cast<std::uint32_t>(types.size())));
    if (!btf || btf__type_cnt(btf.get()) < 2)
        return;
    const btf_type *proto = btf__type_by_id(btf.get(), btf__type_cnt(btf.get()) - 1);
    if (!proto || !btf_is_func_proto(proto))
        return;

    are_described_ = btf__find_by_name_kind(btf.get(), described_mark, BTF_KIND_TYPEDEF) > 0;
    are_of_go_ = btf__find_by_name_kind(btf.get(), go_mark, BTF_KIND_TYPEDEF) > 0;
    static const Format pointer{.kind = Format::Kind::go_pointer, .type = ARGTRACE_TYPE_PTR, .bytes = 8};
    for (std::size_t i = 0; are_of_go_ && i < arguments_.size(); i++)
        if (probe.args[i].type == ARGTRACE_TYPE_PTR)
            arguments_[i] = &pointer;
    Builder builder(btf.get(), formats_, are_of_go_);
    const auto described = std::min<std::size_t>(arguments_.size(), btf_vlen(proto));
    for (std::size_t i = 0; i < described; i++) {
        const Format *format = builder.build(btf_params(proto)[i].type);
        const bool is_bytes = probe.args[i].type == ARGTRACE_TYPE_BYTES;
        const std::string_view type_name = probe.args[i].type_name;
        const bool is_array = std::ranges::any_of(array_suffixes, [&](std::string_view suffix) { return type_name.ends_with(suffix); });
        if (is_bytes && is_array && format->kind != Format::Kind::unknown && format->bytes > 0)
            arguments_[i] = array_of(*format, type_name);
        else if (format->kind != Format::Kind::scalar && format->kind != Format::Kind::unknown)
            arguments_[i] = format;
        else if (format->kind == Format::Kind::scalar && is_bytes)
            arguments_[i] = scalar_of(*format, probe.args[i].type_name);
    }
}

} // namespace argtrace
