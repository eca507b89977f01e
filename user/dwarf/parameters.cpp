// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/parameters.h"

#include <algorithm>

#include "dwarf/attributes.h"

namespace argtrace::dwarf {

namespace {

std::vector<Dwarf_Die> parameters_below(Dwarf_Die &function) {
    std::vector<Dwarf_Die> found;
    visit_children(function, [&found](Dwarf_Die &child) {
        // gcc's own, which says whether a constructor is that of a whole object: each has a body of its own, and it is passed to none.
        if (dwarf_tag(&child) == DW_TAG_formal_parameter && name_of(child) != "__in_chrg")
            found.push_back(child);
        return true;
    });
    return found;
}

} // namespace

std::vector<SourceParameter> source_parameters(Dwarf_Die &function) {
    const std::vector<Dwarf_Die> own = parameters_below(function);
    Dwarf_Die origin = origin_of(function);
    std::vector<SourceParameter> parameters;
    const bool has_origins = std::ranges::all_of(own, [](Dwarf_Die die) { return dwarf_hasattr(&die, DW_AT_abstract_origin); });
    if (origin.addr == function.addr || !has_origins) {
        for (const Dwarf_Die &parameter : own)
            parameters.push_back({parameter, parameter});
        return parameters;
    }
    for (Dwarf_Die &declared : parameters_below(origin)) {
        const auto found = std::ranges::find_if(own, [&declared](const Dwarf_Die &die) { return origin_of(die).addr == declared.addr; });
        if (found != own.end())
            parameters.push_back({declared, *found});
        else if (!has_flag(declared, DW_AT_artificial))
            parameters.push_back({declared, std::nullopt});
    }
    return parameters;
}

bool is_variadic(Dwarf_Die &function) {
    Dwarf_Die origin = origin_of(function);
    bool found = false;
    visit_children(origin, [&found](Dwarf_Die &child) {
        found = dwarf_tag(&child) == DW_TAG_unspecified_parameters;
        return !found;
    });
    return found;
}

} // namespace argtrace::dwarf
