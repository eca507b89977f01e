// SPDX-License-Identifier: GPL-2.0-only
#include "btf/display_types.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include <bpf/btf.h>
#include <fmt/format.h>

#include "btf/kernel_types.h"
#include "btf/limits.h"
#include "btf/name_at.h"
#include "model/type_name.h"
#include "util/cpus.h"

namespace argtrace {

namespace {

#if defined(__x86_64__)
constexpr bool has_x87 = true; // what is called long double is such a number
#else
constexpr bool has_x87 = false;
#endif

constexpr int nesting_max = 32;            // broken BTF may be circular
constexpr std::uint32_t bytes_max = 65536; // argtrace_info.max_types

// The type behind typedefs, qualifiers and tags; null for void and for broken BTF.
const btf_type *bare_type(const btf *types, std::uint32_t &id) {
    const int bare = btf__resolve_type(types, id);
    if (bare <= 0)
        return nullptr;
    id = static_cast<std::uint32_t>(bare);
    return btf__type_by_id(types, id);
}

bool is_function(const btf *types, std::uint32_t id) {
    const btf_type *type = bare_type(types, id);
    return type && btf_is_func_proto(type);
}

bool needs_types(const btf *types, std::uint32_t id) {
    const btf_type *type = bare_type(types, id);
    return type && (btf_is_composite(type) || btf_is_any_enum(type) || btf_is_func_proto(type) ||
                    (btf_is_ptr(type) && is_function(types, type->type)));
}

// The type code of a number says all, but not where it is recorded as bytes, as arrays are.
bool needs_types_as_bytes(const btf *types, std::uint32_t id) {
    const btf_type *type = bare_type(types, id);
    return type && (btf_is_int(type) || btf_is_ptr(type) || btf_is_array(type) || btf_is_float(type));
}

struct Broken {};

int checked(int result) {
    if (result < 0)
        throw Broken();
    return result;
}

/// Copies types from one BTF to another, each once. A type is added after those it is made of:
/// libbpf takes members only for the newest one.
class Copier {
public:
    explicit Copier(const btf *from) : from_(from), to_(btf__new_empty()) {
        if (!to_)
            throw Broken();
    }

    void copy_prototype(std::span<const ShownValue> values) {
        std::vector<int> copies;
        for (const ShownValue &value : values)
            copies.push_back(copy_value(value));
        checked(btf__add_func_proto(to_.get(), 0));
        for (std::size_t i = 0; i < values.size(); i++)
            checked(btf__add_func_param(to_.get(), values[i].name.c_str(), copies[i]));
    }

    void add_mark(const char *mark) { checked(btf__add_typedef(to_.get(), mark, 0)); }

    std::vector<std::byte> bytes() const {
        std::uint32_t size = 0;
        const auto *data = static_cast<const std::byte *>(btf__raw_data(to_.get(), &size));
        if (!data || size > bytes_max)
            return {};
        return {data, data + size};
    }

private:
    const char *from_name(std::uint32_t offset) const { return name_at(from_, offset); }

    int copy_value(const ShownValue &value) {
        if (!value.flags.empty())
            return make_flags(value);
        if (value.symbol)
            return function_pointer();
        if (value.type == 0)
            return 0;
        return value.is_parameter ? copy_parameter(value.type) : copy(value.type, 0);
    }

    int make_flags(const ShownValue &value) {
        const int made = checked(btf__add_enum64(to_.get(), value.name.c_str(),
                                                 static_cast<int>(value.flags_bytes), false));
        for (const FlagName &flag : value.flags)
            checked(btf__add_enum64_value(to_.get(), flag.name.c_str(), flag.value));
        if (!value.one_flag)
            checked(btf__add_decl_tag(to_.get(), "flags", made, -1));
        return made;
    }

    int copy_parameter(std::uint32_t id) {
        const btf_type *type = bare_type(from_, id);
        if (type && btf_is_func_proto(type)) // decays to a pointer, as does an array
            return function_pointer();
        if (type && btf_is_array(type))
            return data_pointer();
        return copy(id, 0);
    }

    int copy(std::uint32_t id, int depth) {
        const std::string_view big_endian = big_endian_name(from_, id);
        const btf_type *type = bare_type(from_, id);
        if (!type || depth > nesting_max)
            throw Broken();
        if (!big_endian.empty() && btf_is_int(type))
            return big_endian_number(std::string(big_endian), type, id, depth);
        if (btf_is_ptr(type))
            return is_function(from_, type->type) ? function_pointer() : data_pointer();
        if (const auto known = copies_.find(id); known != copies_.end())
            return known->second;
        const int made = copy_new(type, depth);
        copies_.emplace(id, made);
        return made;
    }

    int copy_new(const btf_type *type, int depth) {
        const char *name = from_name(type->name_off);
        const auto size = static_cast<int>(type->size);
        switch (btf_kind(type)) {
        case BTF_KIND_INT:
            if (btf_int_offset(type) != 0 || btf_int_bits(type) != 8 * type->size)
                throw Broken(); // a bitfield as they were described before Linux 4.20
            return checked(btf__add_int(to_.get(), name, type->size, btf_int_encoding(type)));
        case BTF_KIND_FLOAT:
            return checked(btf__add_float(to_.get(), type->size > 8 && !has_x87 ? "number" : name, type->size));
        case BTF_KIND_ARRAY: {
            const int element = copy(btf_array(type)->type, depth + 1);
            return checked(
                btf__add_array(to_.get(), index_type(), element, btf_array(type)->nelems));
        }
        case BTF_KIND_ENUM: {
            const int made = checked(btf__add_enum(to_.get(), name, type->size));
            const auto *values = btf_enum(type);
            for (int i = 0; i < btf_vlen(type); i++) {
                const auto value = static_cast<std::uint32_t>(values[i].val);
                checked(btf__add_enum_value(to_.get(), from_name(values[i].name_off),
                                            btf_kflag(type) ? std::int64_t{values[i].val}
                                                            : std::int64_t{value}));
            }
            return made;
        }
        case BTF_KIND_ENUM64: {
            const int made = checked(btf__add_enum64(to_.get(), name, type->size, btf_kflag(type)));
            const auto *values = btf_enum64(type);
            for (int i = 0; i < btf_vlen(type); i++)
                checked(btf__add_enum64_value(to_.get(), from_name(values[i].name_off),
                                              btf_enum64_value(&values[i])));
            return made;
        }
        case BTF_KIND_STRUCT:
        case BTF_KIND_UNION: {
            if (std::string_view(name) == "cpumask") {
                const int mask = checked(btf__add_struct(to_.get(), name, size));
                checked(btf__add_decl_tag(to_.get(), fmt::format("cpus:{}", possible_cpus()).c_str(), mask, -1));
                return mask;
            }
            std::vector<int> copies;
            for (int i = 0; i < btf_vlen(type); i++)
                copies.push_back(copy(btf_members(type)[i].type, depth + 1));
            const int made = checked(btf_is_union(type) ? btf__add_union(to_.get(), name, size)
                                                        : btf__add_struct(to_.get(), name, size));
            for (int i = 0; i < btf_vlen(type); i++)
                checked(btf__add_field(to_.get(), from_name(btf_members(type)[i].name_off),
                                       copies[static_cast<std::size_t>(i)],
                                       btf_member_bit_offset(type, i),
                                       btf_member_bitfield_size(type, i)));
            return made;
        }
        default:
            throw Broken();
        }
    }

    int big_endian_number(const std::string &name, const btf_type *type, std::uint32_t id, int depth) {
        if (const auto known = big_endian_.find(name); known != big_endian_.end())
            return known->second;
        const auto number = copies_.find(id);
        const int bare = number != copies_.end() ? number->second : copies_.emplace(id, copy_new(type, depth)).first->second;
        return big_endian_[name] = checked(btf__add_typedef(to_.get(), name.c_str(), bare));
    }

    int data_pointer() {
        if (!data_pointer_)
            data_pointer_ = checked(btf__add_ptr(to_.get(), 0));
        return *data_pointer_;
    }

    int function_pointer() {
        if (!function_pointer_)
            function_pointer_ =
                checked(btf__add_ptr(to_.get(), checked(btf__add_func_proto(to_.get(), 0))));
        return *function_pointer_;
    }

    int index_type() {
        if (!index_type_)
            index_type_ = checked(btf__add_int(to_.get(), "__ARRAY_SIZE_TYPE__", 4, 0));
        return *index_type_;
    }

    const btf *from_;
    BtfPtr to_;
    std::unordered_map<std::uint32_t, int> copies_;
    std::unordered_map<std::string, int> big_endian_;
    std::optional<int> data_pointer_;
    std::optional<int> function_pointer_;
    std::optional<int> index_type_;
};

} // namespace

std::string_view big_endian_name(const btf *types, std::uint32_t type) {
    for (int depth = 0; types && type != 0 && depth < depth_max; ++depth) {
        const btf_type *found = btf__type_by_id(types, type);
        if (!found || !(btf_is_mod(found) || btf_is_typedef(found)))
            break;
        const char *name = btf_is_typedef(found) ? btf__name_by_offset(types, found->name_off) : nullptr;
        if (name && is_big_endian_name(name))
            return name;
        type = found->type;
    }
    return {};
}

ShownValue parameter_type(const btf *types, std::uint32_t function_proto, std::uint32_t index) {
    const btf_type *proto = types ? btf__type_by_id(types, function_proto) : nullptr;
    if (!proto || !btf_is_func_proto(proto) || index >= btf_vlen(proto))
        return {0, {}, true};
    const btf_param &parameter = btf_params(proto)[index];
    return {parameter.type, name_at(types, parameter.name_off), true};
}

ShownValue result_type(const btf *types, std::uint32_t function_proto) {
    const btf_type *proto = types ? btf__type_by_id(types, function_proto) : nullptr;
    if (!proto || !btf_is_func_proto(proto))
        return {};
    return {proto->type, "ret"};
}

std::vector<std::byte> display_types(const btf *types, std::span<const ShownValue> values, ShownCalls calls) {
    const bool needed = types && std::any_of(values.begin(), values.end(), [types](const auto &v) {
                            return !v.flags.empty() || v.symbol ||
                                   (v.type && ((v.as_bytes && needs_types_as_bytes(types, v.type)) ||
                                               needs_types(types, v.type)));
                        });
    if (!needed && !calls.is_described && !(calls.is_go && types))
        return {};
    try {
        Copier copier(types);
        if (calls.is_described)
            copier.add_mark(described_mark);
        if (calls.is_go)
            copier.add_mark(go_mark);
        copier.copy_prototype(values);
        return copier.bytes();
    } catch (const Broken &) {
        return {};
    }
}

} // namespace argtrace
