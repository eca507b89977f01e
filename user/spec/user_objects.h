// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "elf/object.h"
#include "model/user_file.h"
#include "spec/spec.h"

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

/// What a SPEC's object is in.
struct UserObject {
    std::shared_ptr<const UserFile> file;
    elf::Object content;
    std::string name; ///< without folders
};

/// The path of the file that the SPEC names. Throws Error, which says how to name one, if it names none or there is no such file.
std::string user_object_path(const Spec &spec);

/// Opens that. Throws Error, which says why, if it cannot be read or is no object.
UserObject open_user_object(const Spec &spec, const std::string &path);

} // namespace argtrace
