// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elf/object.h"

namespace argtrace::elf {

/// The separate debug file of an object: by its build id (FOLDER/.build-id/ab/cdef.debug), or by the
/// name and the checksum in .gnu_debuglink. It is looked for in `folders` and then in
/// /usr/lib/debug, never on the network.
std::optional<Object> find_debug_file(const Object &object, const std::vector<std::string> &folders);

/// An object that was seen elsewhere, or its separate debug file: any file with its build id at its path, or where find_debug_file()
/// looks for one by that. A debug file takes the segments of the object.
std::optional<Object> find_object(const CodeObject &wanted, const std::vector<std::string> &more_folders);

} // namespace argtrace::elf
