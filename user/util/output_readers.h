// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace argtrace {

struct ProcessName {
    std::uint32_t pid = 0;
    std::string comm;
};

/// The processes that what we write to stdout goes through: those that read the pipe, and the pipes
/// that they write to in turn, those that hold the other side of a terminal at the end (a terminal
/// emulator, sshd), and the sshd that started us where a socket leads to it. Empty where stdout is
/// a file. As far as /proc lets us see.
std::vector<ProcessName> output_readers();

/// Whether /proc numbers processes as the kernel itself does: false in a container.
bool in_initial_pid_namespace();

} // namespace argtrace
