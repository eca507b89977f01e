// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "btf/limits.h"

namespace argtrace::dwarf {

/// A number that an attribute of the DIE has; nothing if it has none, or one that is computed.
inline std::optional<std::uint64_t> number_of(Dwarf_Die &die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (dwarf_formudata(dwarf_attr(&die, name, &attribute), &number) != 0)
        return std::nullopt;
    return number;
}

inline bool has_flag(Dwarf_Die &die, unsigned name) {
    Dwarf_Attribute attribute;
    bool is_set = false;
    return dwarf_formflag(dwarf_attr(&die, name, &attribute), &is_set) == 0 && is_set;
}

/// The same, of the DIE itself or of those that it completes (DW_AT_abstract_origin, DW_AT_specification).
inline bool has_flag_in_all(Dwarf_Die &die, unsigned name) {
    Dwarf_Attribute attribute;
    bool is_set = false;
    return dwarf_formflag(dwarf_attr_integrate(&die, name, &attribute), &is_set) == 0 && is_set;
}

/// The DIE that an attribute refers to; nothing if there is none.
inline std::optional<Dwarf_Die> referred(Dwarf_Die &die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Die found;
    if (!dwarf_formref_die(dwarf_attr(&die, name, &attribute), &found))
        return std::nullopt;
    return found;
}

inline std::optional<Dwarf_Die> referred_in_all(Dwarf_Die &die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Die found;
    if (!dwarf_formref_die(dwarf_attr_integrate(&die, name, &attribute), &found))
        return std::nullopt;
    return found;
}

/// Its name, which is the file's; empty if it has none.
inline std::string_view name_of(Dwarf_Die &die) {
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_name, &attribute));
    return name ? name : std::string_view();
}

/// Calls `visit` with each child of a DIE, until it returns false. In a damaged file siblings may be said to be where others are: the
/// children end there.
template<typename Visit>
void visit_children(Dwarf_Die &parent, const Visit &visit) {
    Dwarf_Die child;
    if (dwarf_child(&parent, &child) != 0)
        return;
    Dwarf_Off passed = dwarf_dieoffset(&parent);
    do {
        if (dwarf_dieoffset(&child) <= passed)
            return;
        passed = dwarf_dieoffset(&child);
        if (!visit(child))
            return;
    } while (dwarf_siblingof(&child, &child) == 0);
}

/// What a body of a function, or a part of one, is made of (DW_AT_abstract_origin); what is made of nothing is that itself.
inline Dwarf_Die origin_of(Dwarf_Die die) {
    for (int depth = 0; depth < depth_max; depth++) {
        const auto next = referred(die, DW_AT_abstract_origin);
        if (!next)
            break;
        die = *next;
    }
    return die;
}

/// The unit that a DIE is in; nothing in a damaged file.
inline std::optional<Dwarf_Die> unit_of(Dwarf_Die &die) {
    Dwarf_Die unit;
    if (!dwarf_diecu(&die, &unit, nullptr, nullptr))
        return std::nullopt;
    return unit;
}

} // namespace argtrace::dwarf
