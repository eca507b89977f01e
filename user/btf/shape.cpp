// SPDX-License-Identifier: GPL-2.0-only
#include "btf/shape.h"

#include <string_view>

#include <bpf/btf.h>

namespace argtrace {

namespace {

constexpr int MAX_DEPTH = 64; // broken BTF may be circular
constexpr std::uint32_t POINTER_SIZE = 8;

// The type behind typedefs, qualifiers and tags; null for void and for broken BTF.
const btf_type *resolve_type(const btf *types, std::uint32_t id) {
    for (int depth = 0; id != 0 && depth < MAX_DEPTH; depth++) {
        const btf_type *type = btf__type_by_id(types, id);
        if (!type || !(btf_is_mod(type) || btf_is_typedef(type)))
            return type;
        id = type->type;
    }
    return nullptr;
}

Shape integer(const btf *types, const btf_type *type) {
    Shape shape;
    if (btf_int_offset(type) != 0 || btf_int_bits(type) != 8 * type->size)
        return shape;
    const char *name = btf__name_by_offset(types, type->name_off);
    const std::uint8_t encoding = btf_int_encoding(type);
    shape.kind = Shape::Kind::Integer;
    shape.bytes = type->size;
    shape.is_signed = encoding & BTF_INT_SIGNED;
    shape.is_bool = encoding & BTF_INT_BOOL;
    // pahole sets BTF_INT_CHAR on none of the three char types: the name tells.
    shape.is_char = type->size == 1 && name && std::string_view(name) == "char";
    return shape;
}

// Looks for what decides whether an aggregate may lie in integer registers
// (System V x86-64 psABI, 3.2.3): unaligned members and floating-point ones.
void inspect(const btf *types, const btf_type *aggregate, Shape &shape, int depth) {
    if (depth > MAX_DEPTH)
        return;
    const btf_member *members = btf_members(aggregate);
    for (int i = 0; i < btf_vlen(aggregate); i++) {
        const std::uint32_t offset = btf_member_bit_offset(aggregate, i);
        const bool bitfield = btf_member_bitfield_size(aggregate, i) != 0;
        const int align = btf__align_of(types, members[i].type);
        if (!bitfield && align > 0 && offset % (8 * align) != 0)
            shape.unaligned = true;

        const btf_type *type = resolve_type(types, members[i].type);
        for (int d = 0; type && btf_is_array(type) && d < MAX_DEPTH; d++)
            type = resolve_type(types, btf_array(type)->type);
        if (type && btf_is_float(type))
            shape.has_float = true;
        if (type && btf_is_composite(type))
            inspect(types, type, shape, depth + 1);
    }
}

} // namespace

Shape shape_of(const btf *types, std::uint32_t id) {
    Shape shape;
    const btf_type *type = resolve_type(types, id);
    if (!type) {
        if (id == 0)
            shape.kind = Shape::Kind::Void;
        return shape;
    }

    switch (btf_kind(type)) {
    case BTF_KIND_INT:
        return integer(types, type);
    case BTF_KIND_PTR:
    case BTF_KIND_ARRAY:
    case BTF_KIND_FUNC_PROTO:
        shape.kind = Shape::Kind::Pointer;
        shape.bytes = POINTER_SIZE;
        break;
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
        shape.kind = Shape::Kind::Enum;
        shape.bytes = type->size;
        shape.is_signed = btf_kflag(type);
        break;
    case BTF_KIND_FLOAT:
        shape.kind = Shape::Kind::Float;
        shape.bytes = type->size;
        break;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        shape.kind = Shape::Kind::Aggregate;
        shape.bytes = type->size;
        inspect(types, type, shape, 0);
        break;
    default:
        break;
    }
    return shape;
}

} // namespace argtrace
