// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <elfutils/libdw.h>

namespace argtrace::dwarf {

/// The namespaces and classes that DIEs are in. DWARF has no way up, so that they are looked for from the unit down; what lies on the way
/// is kept.
class Scopes {
public:
    /// "ns::Class::" of what is in these; empty of what is in none, and of what is local to a function.
    std::string prefix_of(Dwarf_Die die);

private:
    struct Child {
        Dwarf_Off begin, end; ///< of what is in it
        Dwarf_Die die;
    };

    const std::vector<Child> &children_of(Dwarf_Die &parent);

    std::unordered_map<const void *, std::vector<Child>> levels_; ///< by the parent's place in memory
};

} // namespace argtrace::dwarf
