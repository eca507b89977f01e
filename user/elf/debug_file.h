// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>

#include "elf/object.h"
#include "model/code_naming.h"

namespace argtrace::elf {

/// The separate debug file of an object: by its build id (FOLDER/.build-id/ab/cdef.debug), or by the
/// name and the checksum in .gnu_debuglink. It is looked for in the folders, then in /usr/lib/debug, and then
/// on servers if that is wanted.
std::optional<Object> find_debug_file(const Object &object, const DebugFiles &more);

/// An object that was seen elsewhere, or its separate debug file: any file with its build id at its path, or where find_debug_file()
/// looks for one by that. A debug file takes the segments of the object.
std::optional<Object> find_object(const CodeObject &wanted, const DebugFiles &more);

} // namespace argtrace::elf
