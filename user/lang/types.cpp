// SPDX-License-Identifier: GPL-2.0-only
#include "lang/types.h"

#include <utility>

#include <bpf/btf.h>

#include "btf/declaration.h"
#include "btf/limits.h"
#include "lang/spaces.h"
#include "model/type_name.h"

namespace argtrace::lang {

namespace {

using TypeKind = TypeTraits::Kind;
using Basic = Type::Basic;

constexpr std::uint64_t pointer_size = 8;
constexpr std::size_t parts_max = 10000; // a damaged file may have any number of unnamed members in each other

struct BasicRow {
    Basic basic;
    std::string_view name;
    std::uint8_t bytes;
    bool is_signed;
};

constexpr BasicRow basic_rows[]{
    {Basic::void_, "void", 1, false}, // as gcc has it in the arithmetic of pointers
    {Basic::bool_, "_Bool", 1, false},
    {Basic::char_, "char", 1, true}, // or not: traits() asks BTF
    {Basic::schar, "signed char", 1, true},
    {Basic::uchar, "unsigned char", 1, false},
    {Basic::short_, "short", 2, true},
    {Basic::ushort, "unsigned short", 2, false},
    {Basic::int_, "int", 4, true},
    {Basic::uint, "unsigned int", 4, false},
    {Basic::long_, "long", 8, true},
    {Basic::long_, "long long", 8, true},
    {Basic::ulong, "unsigned long", 8, false},
    {Basic::ulong, "unsigned long long", 8, false},
    {Basic::float_, "float", 4, false},
    {Basic::double_, "double", 8, false},
};

const BasicRow &basic_row(Basic basic) {
    for (const BasicRow &row : basic_rows)
        if (row.basic == basic)
            return row;
    return basic_rows[0];
}

TypeTraits basic_traits(Basic basic) {
    const BasicRow &row = basic_row(basic);
    TypeTraits traits;
    const bool is_floating = basic == Basic::float_ || basic == Basic::double_;
    traits.kind = basic == Basic::void_ ? TypeKind::void_ : is_floating ? TypeKind::floating : TypeKind::integer;
    traits.bytes = row.bytes;
    traits.is_signed = row.is_signed;
    traits.is_bool = basic == Basic::bool_;
    traits.is_char = basic == Basic::char_;
    return traits;
}

} // namespace

std::string_view Types::string(std::uint32_t offset) const {
    const char *name = btf__name_by_offset(types_, offset);
    return name ? name : "";
}

TypeTraits Types::traits(Type type) const {
    TypeTraits traits;
    if (type.stars > 0) {
        traits.kind = TypeKind::pointer;
        traits.bytes = pointer_size;
        return traits;
    }
    if (type.basic != Basic::none) {
        traits = basic_traits(type.basic);
        if (traits.is_char)
            traits.is_signed = char_is_signed_;
        return traits;
    }

    const btf_type *found = nullptr;
    std::uint32_t id = type.id;
    for (int depth = 0; depth < depth_max; depth++) {
        if (id == 0)
            return basic_traits(Basic::void_);
        found = btf__type_by_id(types_, id);
        if (!found || !(btf_is_mod(found) || btf_is_typedef(found)))
            break;
        traits.is_big_endian |=
            btf_is_typedef(found) && is_big_endian_name(string(found->name_off));
        id = found->type;
        found = nullptr;
    }
    if (!found)
        return traits;
    id = complete(id);
    found = btf__type_by_id(types_, id);
    traits.bare = id;
    switch (btf_kind(found)) {
    case BTF_KIND_INT:
        if (btf_int_offset(found) != 0 || btf_int_bits(found) != 8 * found->size)
            break; // a bit-field as they were described before Linux 4.20
        traits.kind = TypeKind::integer;
        traits.bytes = found->size;
        traits.is_signed = btf_int_encoding(found) & BTF_INT_SIGNED;
        traits.is_bool = btf_int_encoding(found) & BTF_INT_BOOL;
        traits.is_char = found->size == 1 && string(found->name_off) == "char";
        break;
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
        traits.kind = TypeKind::enumeration;
        traits.bytes = found->size;
        traits.is_signed = btf_kflag(found);
        break;
    case BTF_KIND_FLOAT:
        traits.kind = TypeKind::floating;
        traits.bytes = found->size;
        break;
    case BTF_KIND_PTR: {
        traits.kind = TypeKind::pointer;
        traits.bytes = pointer_size;
        const btf_type *target = btf__type_by_id(types_, found->type);
        for (int depth = 0; depth < depth_max && target && btf_is_mod(target); depth++) {
            const std::string_view tag =
                btf_kind(target) == BTF_KIND_TYPE_TAG ? string(target->name_off) : "";
            traits.is_per_cpu |= tag == "percpu";
            traits.is_user |= tag == "user";
            target = btf__type_by_id(types_, target->type);
        }
        break;
    }
    case BTF_KIND_ARRAY: {
        traits.kind = TypeKind::array;
        const std::int64_t size = btf__resolve_size(types_, id);
        traits.bytes = size < 0 ? 0 : static_cast<std::uint64_t>(size);
        break;
    }
    case BTF_KIND_FUNC_PROTO:
        traits.kind = TypeKind::function;
        traits.bytes = 1; // as gcc has it
        break;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        traits.kind = TypeKind::aggregate;
        traits.bytes = found->size;
        break;
    case BTF_KIND_FWD:
        traits.kind = TypeKind::incomplete;
        break;
    default:
        break;
    }
    return traits;
}

Type Types::target_anywhere(Type type) const {
    if (type.stars > 0) {
        type.stars--;
        return type.in(Space::unsaid);
    }
    const TypeTraits known = traits(type);
    const btf_type *found = known.bare ? btf__type_by_id(types_, known.bare) : nullptr;
    if (found && known.kind == TypeKind::pointer)
        return Type::btf(found->type);
    if (found && known.kind == TypeKind::array)
        return Type::btf(btf_array(found)->type);
    return Type::of(Basic::void_);
}

Type Types::target(Type type) const {
    const Type found = target_anywhere(type);
    const bool leads_on = space(type) == Space::user && traits(found).kind == TypeKind::pointer;
    return leads_on ? found.in(Space::user) : found;
}

Space Types::space(Type type) const {
    if (type.space != Space::unsaid)
        return type.space;
    if (is_of_program(type))
        return Space::user;
    const TypeTraits known = traits(type);
    return known.is_user ? Space::user : known.is_per_cpu ? Space::per_cpu : Space::kernel;
}

std::uint32_t Types::count(Type array) const {
    const TypeTraits known = traits(array);
    return known.kind == TypeKind::array ? btf_array(btf__type_by_id(types_, known.bare))->nelems
                                         : 0;
}

std::optional<Type> Types::basic_named(std::string_view name) {
    for (const BasicRow &row : basic_rows)
        if (row.name == name)
            return Type::of(row.basic);
    return std::nullopt;
}

std::string_view Types::program_struct(Type type) const {
    const Type whole = traits(type).kind == TypeKind::pointer ? target(type) : type;
    const TypeTraits known = traits(whole);
    const bool is_struct = known.kind == TypeKind::aggregate && is_of_program(Type::btf(known.bare));
    return is_struct ? string(btf__type_by_id(types_, known.bare)->name_off) : std::string_view();
}

std::string Types::name(Type type) const {
    return space(type) == Space::user ? with_user_mark(name_anywhere(type)) : name_anywhere(type);
}

std::string Types::name_anywhere(Type type) const {
    std::string stars(type.stars, '*');
    if (type.basic == Basic::none) {
        Type pointed = type;
        pointed.stars = 0;
        const TypeKind kind = traits(pointed).kind;
        if (type.stars > 0 && (kind == TypeKind::array || kind == TypeKind::function))
            stars = '(' + stars + ')';
        return declare(types_, type.id, stars);
    }
    const std::string name(basic_row(type.basic).name);
    return stars.empty() ? name : name + ' ' + stars;
}

std::optional<Types::Member> Types::member(Type aggregate, std::string_view name) const {
    struct Part {
        std::uint32_t id;
        std::uint64_t bit;
    };
    std::size_t visited = 0;
    std::vector<Part> level{{traits(aggregate).bare, 0}}, next;
    while (!level.empty() && visited < parts_max) {
        std::optional<Member> found;
        bool is_ambiguous = false;
        for (const Part &part : level) {
            const btf_type *type = btf__type_by_id(types_, part.id);
            visited++;
            if (!type || !btf_is_composite(type))
                continue;
            for (int i = 0; i < btf_vlen(type); i++) {
                const btf_member &member = btf_members(type)[i];
                const std::uint64_t bit = part.bit + btf_member_bit_offset(type, i);
                const std::string_view known = string(member.name_off);
                if (known.empty()) {
                    const TypeTraits inner = traits(Type::btf(member.type));
                    if (inner.kind == TypeKind::aggregate)
                        next.push_back({inner.bare, bit});
                } else if (known == name) {
                    is_ambiguous = found.has_value();
                    found = Member{Type::btf(member.type), bit, btf_member_bitfield_size(type, i)};
                }
            }
        }
        if (found)
            return is_ambiguous ? std::nullopt : found;
        level = std::exchange(next, {});
    }
    return std::nullopt;
}

Types::Promotion Types::promotion(Type aggregate, std::string_view name) const {
    struct Part {
        std::uint32_t id;
        std::vector<std::string_view> path;
    };
    std::set<std::uint32_t> seen = {traits(aggregate).bare};
    std::vector<Part> level{{traits(aggregate).bare, {}}};
    while (!level.empty() && !embedded_.empty()) {
        Promotion found;
        std::vector<Part> next;
        for (const Part &part : level) {
            const btf_type *type = btf__type_by_id(types_, part.id);
            if (!type || !btf_is_composite(type))
                continue;
            for (int i = 0; i < btf_vlen(type); i++) {
                const std::string_view known = string(btf_members(type)[i].name_off);
                if (known == name && !part.path.empty())
                    (found.path.empty() ? found.path : found.other) = part.path;
                if (!embedded_.contains({part.id, i}))
                    continue;
                Type inner = Type::btf(btf_members(type)[i].type);
                if (traits(inner).kind == TypeTraits::Kind::pointer)
                    inner = target(inner);
                const std::uint32_t id = traits(inner).bare;
                if (traits(inner).kind != TypeTraits::Kind::aggregate || seen.contains(id) || next.size() == parts_max)
                    continue;
                next.push_back({id, part.path});
                next.back().path.push_back(known);
            }
        }
        if (!found.path.empty())
            return found;
        for (const Part &part : next)
            seen.insert(part.id);
        level = std::move(next);
    }
    return {};
}

void Types::add_member_names(std::uint32_t aggregate, std::vector<std::string_view> &names,
                             int depth) const {
    const btf_type *type = btf__type_by_id(types_, aggregate);
    if (!type || !btf_is_composite(type) || depth > depth_max)
        return;
    for (int i = 0; i < btf_vlen(type); i++) {
        const std::string_view name = string(btf_members(type)[i].name_off);
        if (!name.empty())
            names.push_back(name);
        else
            add_member_names(traits(Type::btf(btf_members(type)[i].type)).bare, names, depth + 1);
    }
}

std::vector<std::string_view> Types::member_names(Type aggregate) const {
    std::vector<std::string_view> names;
    add_member_names(traits(aggregate).bare, names, 0);
    return names;
}

Type Types::result(std::uint32_t function_proto) const {
    const btf_type *proto = btf__type_by_id(types_, function_proto);
    return proto && btf_is_func_proto(proto) ? Type::btf(proto->type) : Type::of(Basic::void_);
}

Type Types::parameter(std::uint32_t function_proto, std::uint32_t index) const {
    const btf_type *proto = btf__type_by_id(types_, function_proto);
    if (!proto || !btf_is_func_proto(proto) || index >= btf_vlen(proto))
        return Type::of(Basic::void_);
    return Type::btf(btf_params(proto)[index].type);
}

} // namespace argtrace::lang
