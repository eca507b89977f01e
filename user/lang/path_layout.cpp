// SPDX-License-Identifier: GPL-2.0-only
#include "lang/path_layout.h"

#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace::lang {

namespace {

std::uint32_t member_offset(const Types &types, const char *structure,
                            std::initializer_list<std::string_view> members) {
    TypeName name;
    name.tag = TypeName::Tag::structure;
    name.name = structure;
    std::optional<Type> type = types.find(name);
    std::uint64_t bits = 0;
    for (const std::string_view wanted : members) {
        const auto member = type ? types.member(*type, wanted) : std::nullopt;
        if (!member || member->bits != 0)
            throw Error(fmt::format("BTF does not describe {} of struct {}, which path() needs",
                                    fmt::join(members, "."), structure));
        bits += member->bit_offset;
        type = member->type;
    }
    return static_cast<std::uint32_t>(bits / 8);
}

} // namespace

argtrace_path_layout path_layout(const Types &types) {
    argtrace_path_layout layout{};
    layout.path_mnt = member_offset(types, "path", {"mnt"});
    layout.path_dentry = member_offset(types, "path", {"dentry"});
    layout.dentry_parent = member_offset(types, "dentry", {"d_parent"});
    layout.dentry_name = member_offset(types, "dentry", {"d_name", "name"});
    layout.dentry_inode = member_offset(types, "dentry", {"d_inode"});
    layout.dentry_flags = member_offset(types, "dentry", {"d_flags"});
    layout.dentry_hash_pprev = member_offset(types, "dentry", {"d_hash", "pprev"});
    layout.dentry_name_len = member_offset(types, "dentry", {"d_name", "len"});
    layout.mount_mnt = member_offset(types, "mount", {"mnt"});
    layout.mount_parent = member_offset(types, "mount", {"mnt_parent"});
    layout.mount_mountpoint = member_offset(types, "mount", {"mnt_mountpoint"});
    layout.vfsmount_root = member_offset(types, "vfsmount", {"mnt_root"});
    layout.inode_ino = member_offset(types, "inode", {"i_ino"});
    return layout;
}

} // namespace argtrace::lang
