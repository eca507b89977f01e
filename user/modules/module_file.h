// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "util/file.h"

namespace argtrace {

/// What a kernel module's file (.ko) says of the module before it is loaded.
struct ModuleFile {
    std::string path;
    std::string name;       ///< as the kernel calls it
    std::string srcversion; ///< of its sources; mostly empty
    Text types;             ///< BTF; empty if it has none
    Text base;              ///< what the BTF builds on, if not on the kernel's: .BTF.base
    bool debug_info = false; ///< it has DWARF, which BTF can be made from

    /// Its functions in the form of /proc/kallsyms. Where one lies is not known yet: its
    /// address is one of our own, which tells the functions apart.
    std::string symbols;

    /// Those that ftrace can trace, in the form of available_filter_functions.
    std::string traceable;

    /// The groups of its tracepoints that have an event, by name. Empty if they are in several: then a file does not tell which.
    std::map<std::string, std::string, std::less<>> tracepoint_groups;

    /// Reads the file, which may be packed. Throws Error, which names it, when it is no module, or
    /// not one of this machine's architecture.
    static ModuleFile read(const std::string &path);
};

/// The file of that module in `folder` (/lib/modules/RELEASE), as depmod has listed it. Throws
/// Error, with a near match, if there is no such module or it is built into the kernel.
std::string find_module_file(std::string_view module, const std::string &folder);

/// Whether a file of that name is a module: "foo.ko", "/tmp/foo.ko.xz".
bool is_module_file_name(std::string_view text);

/// Whether it is a path that was given, not a module's name: "./foo.ko", "foo.ko.xz".
bool is_module_path(std::string_view text);

/// /lib/modules/RELEASE of the running kernel.
std::string module_folder();

} // namespace argtrace
