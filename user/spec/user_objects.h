// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <memory>
#include <optional>
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

/// Behind the path of a file that has been deleted while it was mapped (Linux, fs/d_path.c).
inline constexpr std::string_view deleted_mark = " (deleted)";

/// The path that it had.
constexpr std::string_view without_deleted_mark(std::string_view path) {
    return path.substr(0, path.size() - (path.ends_with(deleted_mark) ? deleted_mark.size() : 0));
}

/// A file that a SPEC's object stands for.
struct ObjectFile {
    std::string path; ///< as whoever has mapped it sees it, maybe with `deleted_mark`
    std::string here; ///< by which this process can open it, the same but for what others see, or have deleted
};

/// Opens it. Throws Error, which names the path and the reason.
std::shared_ptr<const UserFile> open_user_file(const ObjectFile &object);

/// What a SPEC's object is in.
struct UserObject {
    std::shared_ptr<const UserFile> file;
    elf::Object content;
    std::string name; ///< without folders
};

/// Opens it; nothing if it is no such object as user code is in. Throws Error as open_user_file() does.
std::optional<UserObject> open_user_object(const ObjectFile &object);

/// Says so of one that a SPEC names.
Error no_user_object(const Spec &spec, const ObjectFile &file);

} // namespace argtrace
