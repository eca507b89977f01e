// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string>

#include "support/command.h"

namespace vmtest {

/// Ends a SPEC of vfs_read() that takes the test's reads alone, which are told by their numbers of bytes.
inline const std::string if_numbered = " if count >> 16 == 0x51a7";

/// Reads so that vfs_read() is called. The call alone matters: it fails, or finds nothing to read.
void call_vfs_read(int fd, std::size_t number);

/// The number that call_vfs_read() was given, of an event that has `count`.
std::size_t number_of(const nlohmann::ordered_json &event);

} // namespace vmtest
