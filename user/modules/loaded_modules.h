// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>

namespace argtrace {

/// Where the kernel's modules lie at some moment, to know of an address whose it was once its
/// module has gone.
class LoadedModules {
public:
    /// Those of the running kernel. None if it does not show us addresses.
    static LoadedModules now();

    /// Reads lines as /proc/modules has them.
    explicit LoadedModules(std::istream &lines);

    /// The module that has a function at that address, outside its init part; "" if none is known.
    std::string at(std::uint64_t addr) const;

private:
    struct Module {
        std::string name;
        std::uint64_t size;
    };

    std::map<std::uint64_t, Module> by_start_;
};

} // namespace argtrace
