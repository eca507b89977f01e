// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/scopes.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "dwarf/attributes.h"
#include "elf/dwarf_file.h"

namespace argtrace::dwarf {

namespace {

bool is_named_scope(Dwarf_Die &die) {
    switch (dwarf_tag(&die)) {
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_module:
        return true;
    default:
        return false;
    }
}

} // namespace

const std::vector<Scopes::Child> &Scopes::children_of(Dwarf_Die &parent) {
    const auto [known, is_new] = levels_.try_emplace(parent.addr);
    if (!is_new)
        return known->second;
    std::vector<Child> &children = known->second;
    bool is_open = false; // the last one's end is not known yet
    visit_children(parent, [&](Dwarf_Die &child) {
        if (std::exchange(is_open, false))
            children.back().end = dwarf_dieoffset(&child);
        if (dwarf_haschildren(&child) > 0) { // others enclose nothing
            children.push_back({dwarf_dieoffset(&child), std::numeric_limits<Dwarf_Off>::max(), child});
            is_open = true;
        }
        return true;
    });
    return known->second;
}

std::string Scopes::prefix_of(Dwarf_Die die) {
    if (auto declared = referred(die, DW_AT_specification))
        die = *declared;
    std::string prefix;
    std::optional<Dwarf_Die> parent = unit_of(die);
    const Dwarf_Off wanted = dwarf_dieoffset(&die);
    for (int depth = 0; parent && depth < elf::nesting_max; depth++) {
        const std::vector<Child> &children = children_of(*parent);
        const auto behind = std::upper_bound(children.begin(), children.end(), wanted, [](Dwarf_Off at, const Child &child) { return at < child.begin; });
        if (behind == children.begin() || std::prev(behind)->begin == wanted || std::prev(behind)->end <= wanted)
            break;
        Dwarf_Die scope = std::prev(behind)->die;
        if (is_named_scope(scope)) {
            const std::string_view name = name_of(scope);
            prefix.append(name.empty() ? "(anonymous)" : name).append("::");
        } else {
            prefix.clear();
        }
        parent = scope;
    }
    return prefix;
}

} // namespace argtrace::dwarf
