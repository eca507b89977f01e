// SPDX-License-Identifier: GPL-2.0-only
// BPF programs at the entry and at the return of functions, with no compiler: the few instructions are written here.
#pragma once

#include <memory>
#include <string>

#include "support/neighbours.h"

namespace vmtest {

/// Null where the kernel does not attach such programs, and `why`.
std::unique_ptr<Neighbour> make_bpf_neighbour(bool at_return, std::string &why);

/// The same of vfs_read() and vfs_write(), by programs that call bpf_get_current_comm().
std::unique_ptr<Neighbour> make_bpf_of_files(bool at_return, std::string &why);

/// The same of the system call getpgid.
std::unique_ptr<Neighbour> make_bpf_of_getpgid(bool at_return, std::string &why);

} // namespace vmtest
