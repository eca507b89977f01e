// SPDX-License-Identifier: GPL-2.0-only
#include "btf/distilled.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bpf/btf.h>
#include <fmt/core.h>

#include "btf/external.h"
#include "btf/name_at.h"
#include "btf/raw.h"
#include "util/error.h"

namespace argtrace {

namespace {

std::string_view name_of(const btf *types, const btf_type *type) {
    return name_at(types, type->name_off);
}

/// Whether the kernel's type of the same name is of the kind that `wanted` stands for. A struct is
/// there without its members; a FWD is one that the kernel may have no more of, either.
bool is_of_kind(const btf_type *wanted, const btf_type *type) {
    switch (btf_kind(wanted)) {
    case BTF_KIND_FWD:
        return btf_is_fwd(type)    ? btf_kflag(type) == btf_kflag(wanted)
               : btf_kflag(wanted) ? btf_is_union(type)
                                   : btf_is_struct(type);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        return btf_kind(type) == btf_kind(wanted);
    case BTF_KIND_ENUM: // an ENUM64, too
        return btf_is_any_enum(type) && type->size == wanted->size;
    case BTF_KIND_FLOAT:
        return btf_is_float(type) && type->size == wanted->size;
    case BTF_KIND_INT:
        return btf_is_int(type) && type->size == wanted->size &&
               btf_int_encoding(type) == btf_int_encoding(wanted);
    default:
        return false;
    }
}

/// By id, whether a struct of `split` has one of its base's in it, whose size matters then.
std::vector<bool> find_embedded(const btf *split, const btf *base) {
    std::vector<bool> embedded(btf__type_cnt(base));
    for (std::uint32_t id = btf__type_cnt(base); id < btf__type_cnt(split); id++) {
        const btf_type *type = btf__type_by_id(split, id);
        for (int i = 0; btf_is_composite(type) && i < btf_vlen(type); i++) {
            std::uint32_t at = btf_members(type)[i].type, steps = 0;
            for (const btf_type *part = btf__type_by_id(split, at);
                 (btf_is_mod(part) || btf_is_typedef(part) || btf_is_array(part)) && ++steps < 64;
                 part = btf__type_by_id(split, at))
                at = btf_is_array(part) ? btf_array(part)->type : part->type;
            if (at < embedded.size())
                embedded[at] = true;
        }
    }
    return embedded;
}

/// Those of the kernel's types of that name and kind that it can be. One that nothing has in it
/// may have another size by now, if there is no doubt which it is.
std::vector<std::uint32_t> fitting(const btf *kernel, std::vector<std::uint32_t> candidates,
                                   const btf_type *wanted, bool embedded) {
    const auto type = [kernel](std::uint32_t id) { return btf__type_by_id(kernel, id); };
    const auto keep = [&](auto good) {
        std::vector<std::uint32_t> kept;
        std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(kept), good);
        return kept;
    };
    if (btf_is_fwd(wanted)) {
        auto whole = keep([&](std::uint32_t id) { return !btf_is_fwd(type(id)); });
        return whole.empty() ? candidates : whole;
    }
    if (!btf_is_composite(wanted) || (candidates.size() == 1 && !embedded))
        return candidates;
    return keep([&](std::uint32_t id) { return type(id)->size == wanted->size; });
}

/// The kernel's ids of the types that `base` names for `split`.
std::vector<std::uint32_t> find_in_kernel(const btf *split, const btf *base, const btf *kernel,
                                          const std::string &path) {
    std::unordered_multimap<std::string_view, std::uint32_t> wanted;
    for (std::uint32_t id = 1; id < btf__type_cnt(base); id++)
        wanted.emplace(name_of(base, btf__type_by_id(base, id)), id);

    std::vector<std::vector<std::uint32_t>> candidates(btf__type_cnt(base));
    for (std::uint32_t id = 1; id < btf__type_cnt(kernel); id++) {
        const btf_type *type = btf__type_by_id(kernel, id);
        const auto [first, last] = wanted.equal_range(name_of(kernel, type));
        for (auto i = first; i != last; ++i) {
            if (is_of_kind(btf__type_by_id(base, i->second), type))
                candidates[i->second].push_back(id);
        }
    }

    const std::vector<bool> embedded = find_embedded(split, base);
    std::vector<std::uint32_t> found(btf__type_cnt(base));
    for (std::uint32_t id = 1; id < found.size(); id++) {
        const btf_type *type = btf__type_by_id(base, id);
        const auto fit = fitting(kernel, std::move(candidates[id]), type, embedded[id]);
        if (fit.empty())
            throw Error(fmt::format("{}: it needs the type {}, which this kernel has not, or in "
                                    "another form: build it for the kernel that runs",
                                    path, name_of(base, type)));
        if (fit.size() > 1)
            throw Error(fmt::format("{}: it needs the type {}, of which the kernel has several, "
                                    "and does not tell which",
                                    path, name_of(base, type)));
        found[id] = fit.front();
    }
    return found;
}

/// Changes every offset of a string and every id of a type that `type` has.
template<typename ChangeString, typename ChangeId>
void change_references(btf_type *type, const ChangeString &string, const ChangeId &id) {
    const auto each = [type](auto *elements, const auto &change) {
        std::for_each(elements, elements + btf_vlen(type), change);
    };
    const auto named = [&](auto &element) { string(element.name_off); };
    const auto named_and_typed = [&](auto &element) {
        string(element.name_off);
        id(element.type);
    };
    string(type->name_off);
    switch (btf_kind(type)) {
    case BTF_KIND_INT:
    case BTF_KIND_FLOAT:
    case BTF_KIND_FWD:
        break; // has a size where others have an id, or nothing
    case BTF_KIND_ENUM:
        each(btf_enum(type), named);
        break;
    case BTF_KIND_ENUM64:
        each(btf_enum64(type), named);
        break;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        each(btf_members(type), named_and_typed);
        break;
    case BTF_KIND_FUNC_PROTO:
        id(type->type);
        each(btf_params(type), named_and_typed);
        break;
    case BTF_KIND_ARRAY:
        id(btf_array(type)->type);
        id(btf_array(type)->index_type);
        break;
    case BTF_KIND_DATASEC:
        each(btf_var_secinfos(type), [&](btf_var_secinfo &variable) { id(variable.type); });
        break;
    default:
        id(type->type);
    }
}

/// The raw BTF of `split`, which builds on `base`, so that it builds on `kernel`: its ids and
/// strings begin where the kernel's end, and those strings follow that it took from `base`.
std::string rebase(const btf *split, const btf *base, const btf *kernel,
                   const std::vector<std::uint32_t> &found) {
    const RawBtf own(split), below(base);
    const auto base_strings = static_cast<std::uint32_t>(below.strings().size());
    const auto kernel_strings = static_cast<std::uint32_t>(RawBtf(kernel).strings().size());
    const auto own_strings = static_cast<std::uint32_t>(own.strings().size());
    const std::uint32_t base_end = btf__type_cnt(base), kernel_end = btf__type_cnt(kernel);

    const auto new_string = [&](__u32 &offset) {
        if (offset >= base_strings)
            offset = offset - base_strings + kernel_strings;
        else if (offset != 0)
            offset = offset + kernel_strings + own_strings;
    };
    const auto new_id = [&](__u32 &id) {
        id = id >= base_end ? id - base_end + kernel_end : found[id];
    };

    std::string types(own.types());
    for (std::uint32_t id = base_end; id < btf__type_cnt(split); id++) {
        const auto at =
            reinterpret_cast<const char *>(btf__type_by_id(split, id)) - own.types().data();
        const auto type = reinterpret_cast<btf_type *>(types.data() + at);
        change_references(type, new_string, new_id);
    }

    btf_header header{};
    header.magic = own.header().magic;
    header.version = own.header().version;
    header.hdr_len = sizeof(header);
    header.type_len = static_cast<std::uint32_t>(types.size());
    header.str_off = header.type_len;
    header.str_len = own_strings + base_strings;
    std::string raw(reinterpret_cast<const char *>(&header), sizeof(header));
    return raw.append(types).append(own.strings()).append(below.strings());
}

} // namespace

BtfPtr load_distilled(std::string_view types, std::string_view base, const std::string &path,
                      btf *kernel) {
    const BtfPtr distilled = load_types(base, path, nullptr);
    BtfPtr split = load_types(types, path, distilled.get());
    if (!btf__base_btf(split.get()))
        return split;
    if (btf__endianness(split.get()) != btf__endianness(kernel) ||
        btf__endianness(distilled.get()) != btf__endianness(kernel))
        throw Error(fmt::format("{}: its types are those of another kind of machine", path));
    const std::vector<std::uint32_t> found =
        find_in_kernel(split.get(), distilled.get(), kernel, path);
    return load_types(rebase(split.get(), distilled.get(), kernel, found), path, kernel);
}

} // namespace argtrace
