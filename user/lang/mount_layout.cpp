// SPDX-License-Identifier: GPL-2.0-only
#include "lang/mount_layout.h"

#include <string_view>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace::lang {

namespace {

Type structure(const Types &types, std::string_view name) {
    TypeName wanted;
    wanted.tag = TypeName::Tag::structure;
    wanted.name = name;
    const auto found = types.find(wanted);
    if (!found)
        throw Error(fmt::format("BTF does not describe struct {}, which paths need", name));
    return *found;
}

std::uint32_t member_offset(const Types &types, const Type &structure, std::string_view name) {
    const auto member = types.member(structure, name);
    if (!member || member->bits != 0)
        throw Error(fmt::format("BTF does not describe {} of {}, which paths need", name,
                                types.name(structure)));
    return static_cast<std::uint32_t>(member->bit_offset / 8);
}

} // namespace

argtrace_mount_layout mount_layout(const Types &types) {
    const Type mount = structure(types, "mount");
    argtrace_mount_layout layout{};
    layout.mnt = member_offset(types, mount, "mnt");
    layout.mnt_parent = member_offset(types, mount, "mnt_parent");
    layout.mnt_mountpoint = member_offset(types, mount, "mnt_mountpoint");
    layout.mnt_ns = member_offset(types, mount, "mnt_ns");
    layout.ns_root = member_offset(types, structure(types, "mnt_namespace"), "root");
    return layout;
}

argtrace_node_layout node_layout(const Types &types) {
    const Type node = structure(types, "kernfs_node");
    argtrace_node_layout layout{};
    layout.name = member_offset(types, node, "name");
    // Since Linux 6.15 it is not to be read without RCU's protection, which programs have.
    layout.parent = member_offset(types, node, types.member(node, "__parent") ? "__parent" : "parent");
    return layout;
}

} // namespace argtrace::lang
