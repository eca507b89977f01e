// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace argtrace {

/// Appends the text of a path as ARGTRACE_DO_PATH has recorded it ("Paths" in argtrace_program.h),
/// as /proc/PID/fd shows it as far as that can be told: "/etc/passwd", "/tmp/x (deleted)",
/// "pipe:[4711]". Sockets are shown with their protocol and addresses (socket.h). What it misses is marked: ".../c/d" if it was too long, "/b/c (detached)" if it
/// leads to no root, "/b (changing)" if renames may have torn it. False: it is malformed, and what
/// has been appended is any.
bool append_path(std::vector<std::byte> &text, std::span<const std::byte> data);

} // namespace argtrace
