// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/made_type.h"

#include <algorithm>
#include <limits>

#include <bpf/btf.h>
#include <fmt/format.h>

#include "btf/limits.h"
#include "btf/reference_tag.h"
#include "util/error.h"

namespace argtrace::dwarf {

namespace {

using Kind = MadeType::Kind;

constexpr std::size_t parts_max = 0xffff;           // of a type of BTF
constexpr std::uint64_t bits_with_fields = 1 << 24; // where a struct with bit-fields can have members

const char *text_or_null(const std::string &text) {
    return text.empty() ? nullptr : text.c_str();
}

Error no_memory() {
    return Error("there is no memory for the types of the program");
}

// Each of these returns what libbpf does: the type's number, or an error where that refuses it, as it may one of a damaged file.
int add_composite(btf *types, const MadeType &made) {
    const auto size = static_cast<std::uint32_t>(made.size);
    const int id = made.kind == Kind::union_ ? btf__add_union(types, text_or_null(made.name), size) : btf__add_struct(types, text_or_null(made.name), size);
    const bool has_bits = std::ranges::any_of(made.fields, [](const MadeType::Field &field) { return field.bits > 0; });
    const std::uint64_t end = has_bits ? bits_with_fields : std::numeric_limits<std::uint32_t>::max();
    std::size_t count = 0;
    for (const MadeType::Field &field : made.fields)
        if (id > 0 && field.bit < end && count++ < parts_max)
            btf__add_field(types, text_or_null(field.name), static_cast<int>(field.type), static_cast<std::uint32_t>(field.bit), field.bits);
    return id;
}

bool fits_in_32_bits(const MadeType &made) {
    return std::ranges::all_of(made.enumerators, [&made](const MadeType::Enumerator &one) {
        const auto value = static_cast<std::int64_t>(one.value);
        return made.is_signed ? value == static_cast<std::int32_t>(value) : one.value <= std::numeric_limits<std::uint32_t>::max();
    });
}

int add_enumeration(btf *types, const MadeType &made) {
    const auto size = static_cast<std::uint32_t>(made.size);
    // libbpf takes an enum for a signed one where a value is negative, and has no other way to say so.
    const bool needs_sign = made.is_signed && std::ranges::none_of(made.enumerators, [](const auto &one) { return static_cast<std::int64_t>(one.value) < 0; });
    const bool is_wide = made.size > 4 || !fits_in_32_bits(made) || needs_sign;
    const int id = is_wide ? btf__add_enum64(types, text_or_null(made.name), static_cast<int>(size), made.is_signed)
                           : btf__add_enum(types, text_or_null(made.name), size);
    for (std::size_t i = 0; id > 0 && i < std::min(made.enumerators.size(), parts_max); i++) {
        const MadeType::Enumerator &one = made.enumerators[i];
        if (is_wide)
            btf__add_enum64_value(types, one.name.c_str(), one.value);
        else
            btf__add_enum_value(types, one.name.c_str(), static_cast<std::int64_t>(one.value));
    }
    return id;
}

int add_prototype(btf *types, const MadeType &made) {
    const int id = btf__add_func_proto(types, static_cast<int>(made.target));
    for (std::size_t i = 0; id > 0 && i < std::min(made.fields.size(), parts_max - 1); i++)
        btf__add_func_param(types, text_or_null(made.fields[i].name), static_cast<int>(made.fields[i].type));
    if (id > 0 && made.variadic)
        btf__add_func_param(types, nullptr, 0);
    return id;
}

const char *name_or(const MadeType &made, const char *other) {
    return made.name.empty() ? other : made.name.c_str();
}

int add_type(btf *types, const MadeType &made, std::uint32_t index_type) {
    const int target = static_cast<int>(made.target);
    switch (made.kind) {
    case Kind::unknown:
    case Kind::declared_structure:
        return btf__add_fwd(types, name_or(made, "unknown"), BTF_FWD_STRUCT);
    case Kind::declared_union:
        return btf__add_fwd(types, name_or(made, "unknown"), BTF_FWD_UNION);
    case Kind::pointer:
        return btf__add_ptr(types, target);
    case Kind::constant:
        return btf__add_const(types, target);
    case Kind::volatile_:
        return btf__add_volatile(types, target);
    case Kind::restrict_:
        return btf__add_restrict(types, target);
    case Kind::alias:
        return btf__add_typedef(types, name_or(made, "unknown"), target);
    case Kind::integer:
        return btf__add_int(types, name_or(made, "int"), made.size, made.encoding);
    case Kind::floating:
        return btf__add_float(types, name_or(made, "float"), made.size);
    case Kind::array:
        return btf__add_array(types, static_cast<int>(index_type), target, static_cast<std::uint32_t>(made.size));
    case Kind::structure:
    case Kind::union_:
        return add_composite(types, made);
    case Kind::enumeration:
        return add_enumeration(types, made);
    case Kind::prototype:
        return add_prototype(types, made);
    }
    return -1;
}

} // namespace

std::uint32_t MadeTypes::add(MadeType type) {
    types_.push_back(std::move(type));
    return first_ + static_cast<std::uint32_t>(types_.size()) - 1;
}

const MadeType *MadeTypes::bare(std::uint32_t id) const {
    for (int depth = 0; depth < depth_max && has(id); depth++) {
        const MadeType &made = at(id);
        if (!made.is_transparent())
            return &made;
        id = made.target;
    }
    return nullptr;
}

void MadeTypes::break_circles() {
    enum class State : std::uint8_t { new_, open, done };
    std::vector<State> states(types_.size(), State::new_);
    struct Step {
        std::uint32_t type;
        std::size_t next; ///< which of its parts
    };
    std::uint32_t unknown = 0;
    const auto part_of = [this](const Step &step) -> std::uint32_t * {
        MadeType &made = at(step.type);
        if (made.is_composite())
            return step.next < made.fields.size() ? &made.fields[step.next].type : nullptr;
        return (made.is_transparent() || made.kind == Kind::array) && step.next == 0 ? &made.target : nullptr;
    };
    std::vector<Step> path;
    const std::size_t count = types_.size();
    for (std::size_t i = 0; i < count; i++) {
        if (states[i] == State::new_)
            path.push_back({first_ + static_cast<std::uint32_t>(i), 0});
        while (!path.empty()) {
            states[path.back().type - first_] = State::open;
            std::uint32_t *part = part_of(path.back());
            if (!part) {
                states[path.back().type - first_] = State::done;
                path.pop_back();
                continue;
            }
            path.back().next++;
            if (!has(*part) || *part - first_ >= count)
                continue;
            State &state = states[*part - first_];
            if (state == State::new_) {
                path.push_back({*part, 0});
            } else if (state == State::open) {
                if (!unknown)
                    unknown = add({});
                // add() may have moved them
                *part_of({path.back().type, path.back().next - 1}) = unknown;
            }
        }
    }
}

BtfPtr MadeTypes::to_btf(btf *base) const {
    BtfPtr types(btf__new_empty_split(base));
    if (!types)
        throw no_memory();
    // The index of arrays is behind all others, whose numbers are settled.
    const std::uint32_t index_type = first_ + static_cast<std::uint32_t>(types_.size());
    for (const MadeType &made : types_)
        if (add_type(types.get(), made, index_type) <= 0 && btf__add_fwd(types.get(), "unknown", BTF_FWD_STRUCT) <= 0)
            throw no_memory();
    if (btf__add_int(types.get(), "__ARRAY_SIZE_TYPE__", 4, 0) <= 0)
        throw no_memory();
    for (std::size_t i = 0; i < types_.size(); i++) {
        const int type = static_cast<int>(first_ + i);
        if (types_[i].go != GoKind::none)
            (void)btf__add_decl_tag(types.get(), fmt::format("{}{}", go_kind_tag, static_cast<int>(types_[i].go)).c_str(), type, -1);
        if (types_[i].is_reference)
            (void)btf__add_decl_tag(types.get(), std::string(reference_tag).c_str(), type, -1);
        const std::vector<MadeType::Field> &fields = types_[i].fields;
        for (std::size_t j = 0; j < fields.size() && j < parts_max && fields[j].bit < 8 * types_[i].size; j++)
            if (fields[j].is_embedded)
                (void)btf__add_decl_tag(types.get(), std::string(go_embedded_tag).c_str(), type, static_cast<int>(j));
    }
    return types;
}

} // namespace argtrace::dwarf
