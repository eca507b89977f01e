// SPDX-License-Identifier: GPL-2.0-only
#include "decode/path.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/socket.h>

#include "decode/socket.h"
#include "uapi/argtrace_program.h"

namespace argtrace {

namespace {

// Magic numbers that the header lacks, because they are too new or not part of it.
constexpr std::uint32_t pidfs_magic = 0x50494446; // PID_FS_MAGIC
constexpr std::uint32_t nsfs_magic = 0x6e736673;  // NSFS_MAGIC

void append(std::vector<std::byte> &text, std::string_view more) {
    const auto bytes = std::as_bytes(std::span(more));
    text.insert(text.end(), bytes.begin(), bytes.end());
}

/// Cuts the first bytes of `data` off and returns them as a T; false: there are less.
template<typename T>
bool take(std::span<const std::byte> &data, T &value) {
    if (data.size() < sizeof(value))
        return false;
    std::memcpy(&value, data.data(), sizeof(value));
    data = data.subspan(sizeof(value));
    return true;
}

/// "c/b/a/" becomes "/a/b/c".
void append_names(std::vector<std::byte> &text, std::string_view names) {
    if (names.empty())
        append(text, "/");
    while (!names.empty()) {
        names.remove_suffix(1);
        const auto slash = names.rfind('/');
        const std::size_t begin = slash == names.npos ? 0 : slash + 1;
        append(text, "/");
        append(text, names.substr(begin));
        names = names.substr(0, begin);
    }
}

bool is_known(const argtrace_socket &socket) {
    return socket.family == AF_INET || socket.family == AF_INET6 || socket.family == AF_UNIX;
}

/// What has no folder is named as its file system does it (d_dname() in struct dentry_operations).
void append_pseudo(std::vector<std::byte> &text, const argtrace_pseudo &pseudo,
                   std::string_view name) {
    switch (pseudo.magic) {
    case PIPEFS_MAGIC:
        append(text, fmt::format("pipe:[{}]", pseudo.inode));
        break;
    case nsfs_magic: // which kind of namespace it is, is not recorded
        append(text, fmt::format("namespace:[{}]", pseudo.inode));
        break;
    case ANON_INODE_FS_MAGIC:
        append(text, fmt::format("anon_inode:{}", name));
        break;
    case pidfs_magic:
        append(text, "anon_inode:[pidfd]");
        break;
    case TMPFS_MAGIC: // memfd_create(), and shared memory
    case HUGETLBFS_MAGIC:
        append(text, fmt::format("/{} (deleted)", name));
        break;
    default:
        append(text, fmt::format("{}:[{}]", name, pseudo.inode));
        break;
    }
}

} // namespace

bool append_path(std::vector<std::byte> &text, std::span<const std::byte> data) {
    std::uint16_t flags;
    argtrace_pseudo pseudo{};
    if (!take(data, flags) || ((flags & ARGTRACE_PATH_PSEUDO) && !take(data, pseudo)))
        return false;
    if (flags == ARGTRACE_PATH_NONE && data.empty())
        return true;
    if (flags & ARGTRACE_PATH_NONE)
        return false;
    argtrace_socket socket{};
    const bool is_socket = flags & ARGTRACE_PATH_SOCKET;
    if (is_socket && (!(flags & ARGTRACE_PATH_PSEUDO) || !take(data, socket) || !is_known(socket) ||
                      data.size() < socket.name_size))
        return false;
    std::string_view names(reinterpret_cast<const char *>(data.data()), data.size());
    const std::string_view socket_name = names.substr(0, socket.name_size);
    names.remove_prefix(socket.name_size);
    if (!names.empty() && names.back() != '/')
        return false;
    if (flags & ARGTRACE_PATH_PSEUDO) {
        if (names.empty())
            return false;
        names.remove_suffix(1);
        if (is_socket)
            append(text, socket_text(names, pseudo.inode, socket, socket_name));
        else
            append_pseudo(text, pseudo, names);
    } else {
        if (flags & ARGTRACE_PATH_CUT)
            append(text, "...");
        append_names(text, names);
    }
    if (flags & ARGTRACE_PATH_DELETED)
        append(text, " (deleted)");
    if (flags & ARGTRACE_PATH_DETACHED)
        append(text, " (detached)");
    if (flags & ARGTRACE_PATH_CHANGING)
        append(text, " (changing)");
    return true;
}

} // namespace argtrace
