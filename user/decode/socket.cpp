// SPDX-License-Identifier: GPL-2.0-only
#include "decode/socket.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include "util/internet_address.h"

namespace argtrace {

namespace {

std::string internet_text(std::uint64_t inode, const argtrace_socket &socket) {
    if (socket.local_port == 0 && socket.peer_port == 0)
        return std::to_string(inode);
    std::string text = endpoint_text(socket.family, socket.local, socket.local_port);
    if (socket.peer_port != 0)
        text += "->" + endpoint_text(socket.family, socket.peer, socket.peer_port);
    return text;
}

std::string unix_text(std::uint64_t inode, const argtrace_socket &socket, std::string_view name) {
    std::string text = std::to_string(inode);
    if (socket.peer_inode != 0)
        text += fmt::format("->{}", socket.peer_inode);
    // An abstract name has the length that it was bound with, and one in a folder ends with a NUL.
    if (!name.empty() && name.front() == '\0')
        text += fmt::format(",@\"{}\"", name.substr(1));
    else if (!name.empty())
        text += fmt::format(",\"{}\"", name.substr(0, name.find('\0')));
    return text;
}

} // namespace

std::string socket_text(std::string_view protocol, std::uint64_t inode,
                        const argtrace_socket &socket, std::string_view name) {
    return fmt::format("{}:[{}]", protocol,
                       socket.family == AF_UNIX ? unix_text(inode, socket, name)
                                                : internet_text(inode, socket));
}

} // namespace argtrace
