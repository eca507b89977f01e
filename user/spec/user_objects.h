// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/user_file.h"

namespace argtrace {

/// Finds the file that a SPEC calls an object: a path; a library by its name with or without version ("libc", "libssl.so.3"), as the
/// dynamic linker finds it; else a program in PATH. Empty if there is none.
std::string find_user_object(std::string_view object);

/// What the dynamic linker's cache (/etc/ld.so.cache) says of libraries for this machine; nothing in it is trusted.
struct LibraryPath {
    std::string name, path;
};
std::vector<LibraryPath> parse_linker_cache(std::string_view bytes);

/// Opens it. Throws Error, which names the path and the reason.
std::shared_ptr<const UserFile> open_user_file(const std::string &path);

} // namespace argtrace
