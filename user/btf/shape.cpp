// SPDX-License-Identifier: GPL-2.0-only
#include "btf/shape.h"

#include <string_view>

#include <bpf/btf.h>

#include "btf/limits.h"

namespace argtrace {

namespace {

constexpr std::uint32_t pointer_size = 8;

// The type behind typedefs, qualifiers and tags; null for void and for broken BTF.
const btf_type *resolve_type(const btf *types, std::uint32_t id) {
    for (int depth = 0; id != 0 && depth < depth_max; depth++) {
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
    shape.kind = Shape::Kind::integer;
    shape.bytes = type->size;
    shape.is_signed = encoding & BTF_INT_SIGNED;
    shape.is_bool = encoding & BTF_INT_BOOL;
    // pahole sets BTF_INT_CHAR on none of the three char types: the name tells.
    shape.is_char = type->size == 1 && name && std::string_view(name) == "char";
    return shape;
}

// Looks for what decides whether an aggregate may lie in integer registers
// (System V x86-64 psABI, 3.2.3): unaligned members and floating-point ones.
class Inspection {
public:
    Inspection(const btf *types, Shape &shape) : types_(types), shape_(shape) {}

    void run(std::uint32_t aggregate) {
        visit(aggregate, 0, 0, false, 0);
        if (budget_ <= 0)
            shape_.ambiguous = true;
        if (shape_.bytes > word_bits / 8 * register_words || shape_.unaligned)
            return;
        for (std::uint32_t word = 0; word * word_bits < shape_.bytes * 8; word++)
            if (!(held_ & 1u << word))
                shape_.ambiguous = true;
    }

private:
    static constexpr std::uint64_t word_bits = 64;
    static constexpr std::uint64_t register_words = 2; // of the largest that registers take

    // `later`: it is an element of an array, but not the first.
    void visit(std::uint32_t id, std::uint64_t bit, std::uint32_t bitfield, bool later, int depth) {
        const btf_type *type = resolve_type(types_, id);
        if (!type || depth > depth_max || --budget_ <= 0) {
            shape_.ambiguous = true;
        } else if (btf_is_composite(type)) {
            const btf_member *members = btf_members(type);
            for (int i = 0; i < btf_vlen(type); i++)
                visit(members[i].type, bit + btf_member_bit_offset(type, i),
                      btf_member_bitfield_size(type, i), later, depth + 1);
        } else if (btf_is_array(type)) {
            visit_elements(btf_array(type), bit, later, depth);
        } else if (btf_is_ptr(type)) {
            visit_scalar(8 * pointer_size, bit, bitfield, later);
        } else if (btf_is_int(type) || btf_is_any_enum(type) || btf_is_float(type)) {
            if (btf_is_float(type)) {
                shape_.has_float = true;
                shape_.ambiguous |= 8 * std::uint64_t(type->size) > word_bits;
            }
            visit_scalar(8 * std::uint64_t(type->size), bit, bitfield, later);
        } else {
            shape_.ambiguous = true;
        }
    }

    void visit_elements(const struct btf_array *array, std::uint64_t bit, bool later, int depth) {
        const std::int64_t bytes = btf__resolve_size(types_, array->type);
        for (std::uint64_t i = 0; i < array->nelems; i++) {
            const std::uint64_t at = bit + i * 8 * std::uint64_t(bytes);
            if (i > 0 && (bytes <= 0 || at >= register_words * word_bits))
                break;
            visit(array->type, at, 0, later || i > 0, depth + 1);
        }
    }

    void visit_scalar(std::uint64_t bits, std::uint64_t bit, std::uint32_t bitfield, bool later) {
        if (bitfield == 0 && bits != 0 && bit % bits != 0)
            (later ? shape_.ambiguous : shape_.unaligned) = true;
        const std::uint64_t end = bit + (bitfield ? bitfield : bits);
        for (std::uint64_t word = 0; word < register_words; word++)
            if (bit < (word + 1) * word_bits && end > word * word_bits)
                held_ |= 1u << word;
    }

    const btf *types_;
    Shape &shape_;
    unsigned held_ = 0;   // words that hold a member
    int budget_ = 100000; // broken BTF may unfold without end
};

} // namespace

Shape shape_of(const btf *types, std::uint32_t id) {
    Shape shape;
    const btf_type *type = resolve_type(types, id);
    if (!type) {
        if (id == 0)
            shape.kind = Shape::Kind::nothing;
        return shape;
    }

    switch (btf_kind(type)) {
    case BTF_KIND_INT:
        return integer(types, type);
    case BTF_KIND_PTR:
    case BTF_KIND_ARRAY:
    case BTF_KIND_FUNC_PROTO:
        shape.kind = Shape::Kind::pointer;
        shape.bytes = pointer_size;
        break;
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
        shape.kind = Shape::Kind::enumeration;
        shape.bytes = type->size;
        shape.is_signed = btf_kflag(type);
        break;
    case BTF_KIND_FLOAT:
        shape.kind = Shape::Kind::floating;
        shape.bytes = type->size;
        break;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        shape.kind = Shape::Kind::aggregate;
        shape.bytes = type->size;
        Inspection(types, shape).run(id);
        break;
    default:
        break;
    }
    return shape;
}

} // namespace argtrace
