// SPDX-License-Identifier: GPL-2.0-only
#include "btf/built_prototypes.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <bpf/btf.h>

#include "util/error.h"
#include "util/lines.h"

namespace argtrace {

namespace {

struct Integer {
    std::string_view written; ///< as C's programs have it
    std::array<const char *, 2> names; ///< as BTF may have it: that of gcc, that of clang
    std::uint32_t bytes;
    int encoding;
};

constexpr Integer integers[]{
    {"int", {"int", "int"}, 4, BTF_INT_SIGNED},
    {"unsigned int", {"unsigned int", "unsigned int"}, 4, 0},
    {"unsigned", {"unsigned int", "unsigned int"}, 4, 0},
    {"long", {"long int", "long"}, 8, BTF_INT_SIGNED},
    {"long int", {"long int", "long"}, 8, BTF_INT_SIGNED},
    {"unsigned long", {"long unsigned int", "unsigned long"}, 8, 0},
    {"long long", {"long long int", "long long"}, 8, BTF_INT_SIGNED},
    {"unsigned long long", {"long long unsigned int", "unsigned long long"}, 8, 0},
    {"short", {"short int", "short"}, 2, BTF_INT_SIGNED},
    {"unsigned short", {"short unsigned int", "unsigned short"}, 2, 0},
    {"char", {"char", "char"}, 1, 0},
    {"unsigned char", {"unsigned char", "unsigned char"}, 1, 0},
    {"signed char", {"signed char", "signed char"}, 1, BTF_INT_SIGNED},
    {"bool", {"_Bool", "bool"}, 1, BTF_INT_BOOL},
    {"_Bool", {"_Bool", "bool"}, 1, BTF_INT_BOOL},
};

// What libbpf says of a type that it was to add.
std::uint32_t added(int id) {
    if (id <= 0)
        throw Error("there is no memory for the types of prototypes");
    return static_cast<std::uint32_t>(id);
}

// The next of the stars and words of a type.
std::string_view next_token(std::string_view &text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::size_t end =
        text.starts_with('*') ? 1 : std::min(text.find_first_of(" *"), text.size());
    const std::string_view token = text.substr(0, end);
    text.remove_prefix(end);
    return token;
}

} // namespace

BuiltPrototypes::BuiltPrototypes(btf *kernel)
    : kernel_(kernel), types_(btf__new_empty_split(kernel)) {
    if (!types_)
        throw Error("there is no memory for the types of prototypes");
}

std::uint32_t BuiltPrototypes::find(std::string_view name, std::uint32_t kind) const {
    const int id = btf__find_by_name_kind(kernel_, std::string(name).c_str(), kind);
    return id > 0 ? static_cast<std::uint32_t>(id) : 0;
}

std::uint32_t BuiltPrototypes::integer(std::string_view words) {
    const auto row = std::find_if(std::begin(integers), std::end(integers),
                                  [words](const Integer &one) { return one.written == words; });
    if (row == std::end(integers))
        return 0;
    for (const char *name : row->names)
        if (const std::uint32_t id = find(name, BTF_KIND_INT))
            return id;
    return added(btf__add_int(types_.get(), row->names.front(), row->bytes, row->encoding));
}

std::uint32_t BuiltPrototypes::floating(std::string_view words) {
    const std::uint32_t bytes = words == "float" ? 4 : words == "double" ? 8 : words == "long double" ? 16 : 0;
    if (bytes == 0)
        return 0;
    if (const std::uint32_t id = find(words, BTF_KIND_FLOAT))
        return id;
    return added(btf__add_float(types_.get(), std::string(words).c_str(), bytes));
}

// Without stars and qualifiers.
std::uint32_t BuiltPrototypes::base(std::string_view words) {
    if (words == "void")
        return 0;
    struct Tag {
        std::string_view word;
        std::uint32_t kind;
        btf_fwd_kind forward;
    };
    for (const Tag &tag : {Tag{"struct ", BTF_KIND_STRUCT, BTF_FWD_STRUCT},
                           Tag{"union ", BTF_KIND_UNION, BTF_FWD_UNION},
                           Tag{"enum ", BTF_KIND_ENUM, BTF_FWD_ENUM}}) {
        if (!words.starts_with(tag.word))
            continue;
        const std::string_view name = words.substr(tag.word.size());
        if (const std::uint32_t id = find(name, tag.kind))
            return id;
        if (tag.kind == BTF_KIND_ENUM)
            return integer("unsigned int");
        return added(btf__add_fwd(types_.get(), std::string(name).c_str(), tag.forward));
    }
    if (const std::uint32_t id = integer(words))
        return id;
    if (const std::uint32_t id = floating(words))
        return id;
    if (const std::uint32_t id = find(words, BTF_KIND_TYPEDEF))
        return id;
    return added(
        btf__add_typedef(types_.get(), std::string(words).c_str(), static_cast<int>(integer("unsigned long"))));
}

std::uint32_t BuiltPrototypes::type(std::string_view text) {
    const auto known = known_.find(std::string(text));
    if (known != known_.end())
        return known->second;
    std::string words;
    bool is_const = false;
    std::string_view rest = text, token = next_token(rest);
    for (; !token.empty() && token != "*"; token = next_token(rest)) {
        if (token == "const")
            is_const = true;
        else if (token != "volatile" && token != "__user")
            words.append(words.empty() ? "" : " ").append(token);
    }
    std::uint32_t id = base(words);
    if (is_const)
        id = added(btf__add_const(types_.get(), static_cast<int>(id)));
    for (; !token.empty(); token = next_token(rest)) {
        if (token == "*")
            id = added(btf__add_ptr(types_.get(), static_cast<int>(id)));
        else if (token == "const")
            id = added(btf__add_const(types_.get(), static_cast<int>(id)));
    }
    known_.emplace(text, id);
    return id;
}

std::uint32_t BuiltPrototypes::add(std::span<const WrittenParameter> parameters, std::string_view result, bool variadic) {
    // Parameters are added to the type that was added last.
    std::vector<std::uint32_t> ids;
    for (const WrittenParameter &parameter : parameters)
        ids.push_back(type(parameter.type));
    const std::uint32_t id = added(btf__add_func_proto(types_.get(), static_cast<int>(type(result))));
    int error = 0;
    for (std::size_t i = 0; i < ids.size() && !error; ++i)
        error = btf__add_func_param(types_.get(), parameters[i].name.c_str(), static_cast<int>(ids[i]));
    if (variadic && !error)
        error = btf__add_func_param(types_.get(), nullptr, 0);
    if (error)
        throw Error("there is no memory for the types of prototypes");
    return id;
}

} // namespace argtrace
