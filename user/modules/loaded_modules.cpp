// SPDX-License-Identifier: GPL-2.0-only
#include "modules/loaded_modules.h"

#include <fstream>
#include <sstream>

namespace argtrace {

LoadedModules LoadedModules::now() {
    std::ifstream file("/proc/modules");
    return LoadedModules(file);
}

LoadedModules::LoadedModules(std::istream &lines) {
    // "ext4 1130496 1 - Live 0xffffffffc0a00000", perhaps followed by "(OE)".
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string name, references, users, state, start;
        std::uint64_t size = 0;
        if (!(fields >> name >> size >> references >> users >> state >> start))
            continue;
        const std::uint64_t address = std::strtoull(start.c_str(), nullptr, 16);
        if (address != 0) // else they are hidden from us
            by_start_.emplace(address, Module{name, size});
    }
}

std::string LoadedModules::at(std::uint64_t addr) const {
    // The size is that of all parts of a module, and from Linux 6.4 on they lie apart: what counts
    // is whose code begins last before the address.
    const auto behind = by_start_.upper_bound(addr);
    if (behind == by_start_.begin())
        return "";
    const auto &[start, module] = *std::prev(behind);
    return addr - start < module.size ? module.name : "";
}

} // namespace argtrace
