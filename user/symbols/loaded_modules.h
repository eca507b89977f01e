// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "symbols/kallsyms.h"
#include "symbols/kcore.h"
#include "symbols/kernel_layout.h"

namespace argtrace {

/// A line of /proc/modules, and which load of the module it is.
struct LoadedModule {
    std::string name;
    std::uint64_t size = 0; ///< of all its parts
    std::uint64_t text = 0; ///< where its code begins
    std::uint64_t load = 0; ///< the inode number of its directory in /sys/module, of which each load makes another (fs/kernfs/dir.c)

    bool operator==(const LoadedModule &) const = default;
};

/// The modules, in the kernel's order. Nothing if that cannot be read, or one of them is being loaded or unloaded.
std::optional<std::vector<LoadedModule>> loaded_modules(const std::string &path = "/proc/modules", const std::string &directories = "/sys/module");

/// Visits the symbols of these modules, of all types, in the order in which /proc/kallsyms lists them; `list` is the address of the
/// kernel's list of modules. The strings last for the call. False if the list in memory has other modules, or something else is odd; what has been
/// visited until then means nothing. A module that comes or goes meanwhile may remain unnoticed.
bool visit_module_symbols(const Kcore &core, const KernelLayout &layout, std::uint64_t list, const std::vector<LoadedModule> &modules,
                          const std::function<void(const ListedSymbol &)> &visit);

} // namespace argtrace
