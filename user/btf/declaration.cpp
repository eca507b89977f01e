// SPDX-License-Identifier: GPL-2.0-only
#include "btf/declaration.h"

#include <string_view>

#include <bpf/btf.h>
#include <fmt/core.h>

#include "btf/limits.h"

namespace argtrace {

namespace {

// Joins what stands before the declarator with it: "int" + "x", "int" + "*x", "int" + "[4]".
// Kernels have some 100,000 parameters, each of which is declared so when all functions are listed.
std::string join(std::string base, std::string_view declarator) {
    const bool space = !declarator.empty() && declarator.front() != '[';
    base.reserve(base.size() + space + declarator.size());
    if (space)
        base += ' ';
    base += declarator;
    return base;
}

std::string_view tag_of(const btf_type *type) {
    switch (btf_kind(type)) {
    case BTF_KIND_STRUCT:
        return "struct ";
    case BTF_KIND_UNION:
        return "union ";
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
        return "enum ";
    case BTF_KIND_FWD:
        return btf_kflag(type) ? "union " : "struct ";
    default:
        return "";
    }
}

std::string_view qualifier_of(const btf_type *type) {
    switch (btf_kind(type)) {
    case BTF_KIND_CONST:
        return "const";
    case BTF_KIND_VOLATILE:
        return "volatile";
    case BTF_KIND_RESTRICT:
        return "restrict";
    default:
        return "";
    }
}

const btf_type *type_at(const btf *types, std::uint32_t id) {
    return btf__type_by_id(types, id);
}

// The type behind type tags, which are no part of C.
std::uint32_t untagged(const btf *types, std::uint32_t id) {
    for (int depth = 0; depth < depth_max; depth++) {
        const btf_type *type = type_at(types, id);
        if (!type || btf_kind(type) != BTF_KIND_TYPE_TAG)
            break;
        id = type->type;
    }
    return id;
}

// The type behind tags and qualifiers.
const btf_type *unqualified(const btf *types, std::uint32_t id) {
    const btf_type *type = type_at(types, untagged(types, id));
    for (int depth = 0; depth < depth_max && type && !qualifier_of(type).empty(); depth++)
        type = type_at(types, untagged(types, type->type));
    return type;
}

std::string declare_at(const btf *types, std::uint32_t id, std::string declarator, int depth);

std::string parameters_at(const btf *types, const btf_type *proto, int depth) {
    const btf_param *params = btf_params(proto);
    const int count = btf_vlen(proto);
    if (count == 0)
        return "(void)";

    std::string list;
    for (int i = 0; i < count; i++) {
        if (i > 0)
            list += ", ";
        const char *name = btf__name_by_offset(types, params[i].name_off);
        if (i == count - 1 && params[i].type == 0)
            list += "...";
        else
            list += declare_at(types, params[i].type, name ? name : "", depth + 1);
    }
    return '(' + list + ')';
}

// C writes a type around its declarator, from the inside out: pointers to its left,
// arrays and parameters to its right, which bind more tightly.
std::string declare_at(const btf *types, std::uint32_t id, std::string declarator, int depth) {
    id = untagged(types, id);
    if (id == 0)
        return join("void", declarator);
    const btf_type *type = type_at(types, id);
    if (!type || depth > depth_max)
        return join("?", declarator);

    const char *name = btf__name_by_offset(types, type->name_off);
    switch (btf_kind(type)) {
    case BTF_KIND_PTR: {
        const btf_type *target = unqualified(types, type->type);
        const bool binds = target && (btf_is_array(target) || btf_is_func_proto(target));
        declarator.insert(0, 1, '*');
        return declare_at(types, type->type, binds ? '(' + declarator + ')' : declarator,
                          depth + 1);
    }
    case BTF_KIND_ARRAY: {
        const auto *array = btf_array(type);
        return declare_at(types, array->type, fmt::format("{}[{}]", declarator, array->nelems),
                          depth + 1);
    }
    case BTF_KIND_FUNC_PROTO:
        return declare_at(types, type->type, declarator + parameters_at(types, type, depth),
                          depth + 1);
    case BTF_KIND_CONST:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_RESTRICT: {
        const std::string_view qualifier = qualifier_of(type);
        const btf_type *target = unqualified(types, type->type);
        if (target && btf_is_ptr(target)) // qualifies the pointer: behind its star
            return declare_at(types, type->type, join(std::string(qualifier), declarator), depth + 1);
        return join(std::string(qualifier), declare_at(types, type->type, std::move(declarator), depth + 1));
    }
    default: {
        const bool anonymous = !name || !*name;
        std::string base(tag_of(type));
        base += anonymous ? "{...}" : name;
        return join(std::move(base), declarator);
    }
    }
}

} // namespace

std::string declare(const btf *types, std::uint32_t type, std::string declarator) {
    return declare_at(types, type, std::move(declarator), 0);
}

std::string declare_parameters(const btf *types, std::uint32_t function_proto) {
    const btf_type *proto = type_at(types, function_proto);
    return proto && btf_is_func_proto(proto) ? parameters_at(types, proto, 0) : "(?)";
}

} // namespace argtrace
