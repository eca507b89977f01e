// SPDX-License-Identifier: GPL-2.0-only
#include "lang/types.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <bpf/btf.h>
#include <fmt/format.h>

#include "btf/limits.h"
#include "btf/reference_tag.h"

namespace argtrace::lang {

namespace {

using TypeKind = TypeTraits::Kind;

std::uint64_t value_of(const btf_type *type, int position) {
    if (btf_is_enum64(type))
        return btf_enum64_value(&btf_enum64(type)[position]);
    const std::int32_t value = btf_enum(type)[position].val;
    return btf_kflag(type) ? static_cast<std::uint64_t>(std::int64_t{value})
                           : static_cast<std::uint32_t>(value);
}

std::uint32_t name_of(const btf_type *type, int position) {
    return btf_is_enum64(type) ? btf_enum64(type)[position].name_off
                               : btf_enum(type)[position].name_off;
}

constexpr std::string_view scope_separator = "::";

/// "app" of "app::Level"; nothing of what is in no scope.
std::string_view scope_of(std::string_view name) {
    const std::size_t at = name.rfind(scope_separator);
    return at == name.npos ? std::string_view() : name.substr(0, at);
}

/// Whether a qualified name is that, or ends in it: "app::Level" in "Level".
bool ends_in_scope(std::string_view name, std::string_view end) {
    if (!name.ends_with(end))
        return false;
    const std::string_view before = name.substr(0, name.size() - end.size());
    return before.empty() || before.ends_with(scope_separator);
}

} // namespace

// A module's own come first: what its functions mean by a name that its kernel has, too.
Types::Types(const btf *types, FindVariable find_variable, Owner owner)
    : types_(types), find_variable_(std::move(find_variable)), owner_(owner) {
    const btf *base = btf__base_btf(types);
    own_begin_ = base ? btf__type_cnt(base) : 1;
    index(own_begin_, btf__type_cnt(types));
    index(1, own_begin_);
    const auto found = integers_.find("char");
    if (found != integers_.end())
        char_is_signed_ =
            btf_int_encoding(btf__type_by_id(types_, found->second.id)) & BTF_INT_SIGNED;
}

void Types::index(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t id = begin; id < end; id++)
        index(id);
}

void Types::index(std::uint32_t id) {
    const btf_type *type = btf__type_by_id(types_, id);
    if (!type)
        return;
    const std::string_view name = string(type->name_off);
    switch (btf_kind(type)) {
    case BTF_KIND_STRUCT:
        add(structs_, name, {.id = id});
        break;
    case BTF_KIND_UNION:
        add(unions_, name, {.id = id});
        break;
    case BTF_KIND_TYPEDEF:
        add(typedefs_, name, {.id = id});
        break;
    case BTF_KIND_INT:
        add(integers_, name, {.id = id});
        break;
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
        add(enums_, name, {.id = id});
        for (int i = 0; i < btf_vlen(type); i++)
            add(enumerators_, string(name_of(type, i)), {.id = id, .position = i});
        break;
    case BTF_KIND_DECL_TAG:
        if (owner_ == Owner::program && is_own(id) && name == go_embedded_tag)
            embedded_.emplace(type->type, btf_decl_tag(type)->component_idx);
        else if (owner_ == Owner::program && is_own(id) && name == reference_tag)
            references_.insert(type->type);
        else if (owner_ == Owner::program && is_own(id) && name.starts_with(go_kind_tag))
            go_kinds_.emplace(type->type, go_kind_of(std::strtoul(name.data() + go_kind_tag.size(), nullptr, 10)));
        break;
    default:
        break;
    }
}

// The first for which that holds of the type and those that it has another name, or a qualifier, for; 0: of none.
template<typename Found> std::uint32_t Types::find_beneath(Type type, Found found) const {
    std::uint32_t id = type.stars > 0 || type.basic != Type::Basic::none ? 0 : type.id;
    for (int depth = 0; depth < depth_max && id != 0; depth++) {
        if (found(id))
            return id;
        const btf_type *one = btf__type_by_id(types_, id);
        if (!one || !(btf_is_mod(one) || btf_is_typedef(one)))
            break;
        id = one->type;
    }
    return 0;
}

GoKind Types::go_kind(Type type) const {
    const std::uint32_t id = go_kinds_.empty() ? 0 : find_beneath(type, [this](std::uint32_t one) { return go_kinds_.contains(one); });
    return id ? go_kinds_.at(id) : GoKind::none;
}

bool Types::is_reference(Type type) const {
    return !references_.empty() && find_beneath(type, [this](std::uint32_t one) { return references_.contains(one); }) != 0;
}

void Types::add(Index &index, std::string_view name, Named named) {
    if (name.empty())
        return;
    const auto [found, added] = index.emplace(name, named);
    Named &first = found->second;
    if (added || first.is_ambiguous || is_own(first.id) != is_own(named.id))
        return;
    first.is_ambiguous = &index == &enumerators_
                             ? enumerator(first).value != enumerator(named).value
                             : !alike(Type::btf(first.id), Type::btf(named.id));
}

// Whether values of both are read alike, and have the same members.
bool Types::alike(Type a, Type b, int depth) const {
    const TypeTraits one = traits(a), other = traits(b);
    if (one.kind != other.kind || one.bytes != other.bytes)
        return false;
    switch (one.kind) {
    case TypeKind::integer:
        return one.is_signed == other.is_signed && one.is_bool == other.is_bool &&
               one.is_big_endian == other.is_big_endian;
    case TypeKind::array:
        return count(a) == count(b) && alike(target(a), target(b), depth);
    case TypeKind::aggregate:
    case TypeKind::enumeration:
        return one.bare == other.bare || depth > depth_max ||
               alike_inside(one.bare, other.bare, depth + 1);
    default:
        return true;
    }
}

bool Types::alike_inside(std::uint32_t a, std::uint32_t b, int depth) const {
    const btf_type *one = btf__type_by_id(types_, a), *other = btf__type_by_id(types_, b);
    if (btf_kind(one) != btf_kind(other) || btf_vlen(one) != btf_vlen(other) ||
        one->size != other->size)
        return false;
    for (int i = 0; i < btf_vlen(one); i++) {
        if (!btf_is_composite(one)) {
            if (string(name_of(one, i)) != string(name_of(other, i)) ||
                value_of(one, i) != value_of(other, i))
                return false;
            continue;
        }
        const btf_member &member = btf_members(one)[i], &same = btf_members(other)[i];
        if (string(member.name_off) != string(same.name_off) ||
            btf_member_bit_offset(one, i) != btf_member_bit_offset(other, i) ||
            btf_member_bitfield_size(one, i) != btf_member_bitfield_size(other, i) ||
            !alike(Type::btf(member.type), Type::btf(same.type), depth))
            return false;
    }
    return true;
}

bool Types::same(Type a, Type b) const {
    TypeTraits one = traits(a), other = traits(b);
    for (int depth = 0;
         depth < depth_max && one.kind == TypeKind::pointer && other.kind == TypeKind::pointer;
         depth++) {
        a = target(a);
        b = target(b);
        one = traits(a);
        other = traits(b);
    }
    if (one.kind != other.kind || one.bytes != other.bytes)
        return false;
    if (one.kind == TypeKind::integer)
        return one.is_signed == other.is_signed && one.is_bool == other.is_bool;
    if (one.bare == other.bare)
        return true;
    if (one.kind != TypeKind::aggregate && one.kind != TypeKind::enumeration)
        return false;
    // pahole leaves two of a struct where source files saw different things behind its pointers.
    const std::string_view name = string(btf__type_by_id(types_, one.bare)->name_off);
    return !name.empty() && name == string(btf__type_by_id(types_, other.bare)->name_off) &&
           alike_inside(one.bare, other.bare, 0);
}

const Types::Index *Types::index_of(TypeName::Tag tag) const {
    switch (tag) {
    case TypeName::Tag::structure:
        return &structs_;
    case TypeName::Tag::union_:
        return &unions_;
    case TypeName::Tag::enumeration:
        return &enums_;
    case TypeName::Tag::none:
        break;
    }
    return &typedefs_;
}

const Types::Named *Types::named(const TypeName &name) const {
    const Index &index = *index_of(name.tag);
    auto found = index.find(name.name);
    if (found != index.end())
        return &found->second;
    if (name.tag != TypeName::Tag::none)
        return nullptr;
    found = integers_.find(name.name);
    if (found != integers_.end())
        return &found->second;
    // C++ and Rust need no `struct`.
    for (const Index *composite : {&structs_, &unions_, &enums_})
        if (const auto own = composite->find(name.name); owner_ == Owner::program && own != composite->end() && is_own(own->second.id))
            return &own->second;
    return nullptr;
}

std::optional<Type> Types::find(const TypeName &name) const {
    std::optional<Type> found;
    if (name.tag == TypeName::Tag::none)
        found = basic_named(name.name);
    if (const Named *known = found ? nullptr : named(name))
        found = Type::btf(known->id);
    if (found)
        found->stars = static_cast<std::uint8_t>(found->stars + name.stars);
    return found;
}

std::optional<Type> Types::find_of_kernel(const TypeName &name) const {
    const auto found = find(name);
    if (!found || !is_of_program(*found))
        return found;
    const std::uint32_t kind = name.tag == TypeName::Tag::structure ? BTF_KIND_STRUCT
                               : name.tag == TypeName::Tag::union_  ? BTF_KIND_UNION
                               : name.tag == TypeName::Tag::none    ? BTF_KIND_TYPEDEF
                                                                    : BTF_KIND_ENUM;
    const int id = btf__find_by_name_kind(btf__base_btf(types_), name.name.c_str(), kind);
    if (id <= 0)
        return std::nullopt;
    Type type = Type::btf(static_cast<std::uint32_t>(id));
    type.stars = name.stars;
    return type;
}

bool Types::is_ambiguous(const TypeName &name) const {
    if (name.tag == TypeName::Tag::none && basic_named(name.name))
        return false;
    const Named *known = named(name);
    return known && known->is_ambiguous;
}

std::vector<Type> Types::all(const TypeName &name) const {
    std::vector<Type> found;
    const Named *first = named(name);
    if (!first)
        return found;
    const int kind = btf_kind(btf__type_by_id(types_, first->id));
    const std::uint32_t end = is_own(first->id) ? btf__type_cnt(types_) : own_begin_;
    for (std::uint32_t id = first->id; id < end; id++) {
        const btf_type *type = btf__type_by_id(types_, id);
        if (btf_kind(type) != kind || string(type->name_off) != name.name)
            continue;
        const Type one = Type::btf(id);
        if (std::none_of(found.begin(), found.end(),
                         [&](Type other) { return alike(one, other); }))
            found.push_back(one);
    }
    return found;
}

// For a struct that is only declared, the only complete one of that name.
std::uint32_t Types::complete(std::uint32_t id) const {
    const btf_type *type = btf__type_by_id(types_, id);
    if (!type || !btf_is_fwd(type))
        return id;
    const Index &index = btf_kflag(type) ? unions_ : structs_;
    const auto found = index.find(string(type->name_off));
    if (found == index.end() || found->second.is_ambiguous)
        return id;
    // What a program keeps to itself is not the kernel's of that name, nor the other way round.
    const bool is_other = owner_ == Owner::program && is_own(id) != is_own(found->second.id);
    return is_other ? id : found->second.id;
}

TypeName Types::declared_name(Type type) const {
    TypeName name;
    const TypeTraits known = traits(type);
    if (known.kind != TypeKind::incomplete)
        return name;
    const btf_type *declared = btf__type_by_id(types_, known.bare);
    name.tag = btf_kflag(declared) ? TypeName::Tag::union_ : TypeName::Tag::structure;
    name.name = string(declared->name_off);
    return name;
}

std::vector<std::string_view> Types::names(TypeName::Tag tag) const {
    std::vector<std::string_view> names;
    for (const auto &[name, named] : *index_of(tag))
        names.push_back(name);
    return names;
}

Types::Enumerator Types::enumerator(const Named &named) const {
    const btf_type *type = btf__type_by_id(types_, named.id);
    const std::uint64_t value = value_of(type, named.position);
    const bool is_signed = btf_kflag(type);
    const auto as_signed = static_cast<std::int64_t>(value);
    constexpr std::int64_t max = std::numeric_limits<std::int32_t>::max();
    const bool negative = is_signed && as_signed < 0;
    if (negative ? as_signed >= -max - 1 : value <= static_cast<std::uint64_t>(max))
        return Enumerator{value, int_type};
    return Enumerator{value, is_signed              ? long_type
                             : value <= 0xffffffffu ? uint_type
                                                    : ulong_type};
}

// All that have the name: the program's or the module's where it has any.
template<typename Visit> void Types::visit_enumerators(std::string_view name, Visit visit) const {
    const auto first = enumerators_.find(name);
    if (first == enumerators_.end())
        return;
    const std::uint32_t end = is_own(first->second.id) ? btf__type_cnt(types_) : own_begin_;
    for (std::uint32_t id = first->second.id; id < end; id++) {
        const btf_type *type = btf__type_by_id(types_, id);
        for (int i = 0; btf_is_any_enum(type) && i < btf_vlen(type); i++)
            if (string(name_of(type, i)) == name)
                visit(Named{.id = id, .position = i});
    }
}

// An enumerator without a class is in the scope that its enum is in.
std::optional<Types::Enumerator> Types::qualified_enumerator(std::string_view qualifier, std::string_view name) const {
    std::optional<Enumerator> found;
    bool is_ambiguous = false;
    visit_enumerators(name, [&](Named named) {
        const std::string_view whole = string(btf__type_by_id(types_, named.id)->name_off);
        if (!ends_in_scope(whole, qualifier) && !ends_in_scope(scope_of(whole), qualifier))
            return;
        const Enumerator one = enumerator(named);
        is_ambiguous = is_ambiguous || (found && found->value != one.value);
        found = one;
    });
    return is_ambiguous ? std::nullopt : found;
}

std::vector<std::string> Types::qualified_enumerators(std::string_view name) const {
    std::vector<std::string> all;
    visit_enumerators(name, [&](Named named) {
        const std::string_view whole = string(btf__type_by_id(types_, named.id)->name_off);
        if (owner_ == Owner::program && is_own(named.id) && !whole.empty())
            all.push_back(fmt::format("{}{}{}", whole, scope_separator, name));
    });
    return all;
}

std::optional<Types::Enumerator> Types::enumerator(std::string_view name) const {
    if (const std::size_t at = name.rfind(scope_separator); at != name.npos)
        return qualified_enumerator(name.substr(0, at), name.substr(at + scope_separator.size()));
    const auto known = enumerators_.find(name);
    if (known == enumerators_.end() || known->second.is_ambiguous)
        return std::nullopt;
    return enumerator(known->second);
}

std::vector<std::int64_t> Types::enumerator_values(std::string_view name) const {
    std::vector<std::int64_t> values;
    visit_enumerators(name, [&](Named named) {
        values.push_back(static_cast<std::int64_t>(value_of(btf__type_by_id(types_, named.id), named.position)));
    });
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

std::vector<std::string_view> Types::enumerator_names() const {
    std::vector<std::string_view> names;
    for (const auto &[name, named] : enumerators_)
        names.push_back(name);
    return names;
}

std::uint32_t Types::enum_of(std::string_view enumerator) const {
    const auto known = enumerators_.find(enumerator);
    return known == enumerators_.end() ? 0 : known->second.id;
}

std::vector<std::pair<std::string_view, std::uint64_t>> Types::enumerators_of(std::uint32_t id) const {
    std::vector<std::pair<std::string_view, std::uint64_t>> all;
    const btf_type *type = btf__type_by_id(types_, id);
    for (int i = 0; type && btf_is_any_enum(type) && i < btf_vlen(type); i++)
        all.emplace_back(string(name_of(type, i)), value_of(type, i));
    return all;
}

} // namespace argtrace::lang
