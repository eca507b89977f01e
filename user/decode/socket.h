// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "uapi/argtrace_program.h"

namespace argtrace {

/// The text of a socket, as `strace -yy` shows it: "TCP:[10.0.0.1:22->10.0.0.2:5000]",
/// "UDP:[0.0.0.0:53]", "UNIX-STREAM:[4711->4712,"/run/x"]", and "TCP:[4711]" of one that is not bound.
/// `protocol` is the name of its dentry, `inode` the number of its inode, and `name` that of a UNIX
/// socket as in struct sockaddr_un. `socket.family` is one of those that it names.
std::string socket_text(std::string_view protocol, std::uint64_t inode,
                        const argtrace_socket &socket, std::string_view name);

} // namespace argtrace
