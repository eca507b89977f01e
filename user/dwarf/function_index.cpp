// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/function_index.h"

#include "dwarf/attributes.h"

namespace argtrace::dwarf {

namespace {

// The first instruction: of a function in several parts, the beginning of the first.
std::optional<std::uint64_t> entry_of(Dwarf_Die &function) {
    Dwarf_Addr entry = 0;
    if (dwarf_hasattr(&function, DW_AT_low_pc) && dwarf_entrypc(&function, &entry) == 0)
        return entry;
    std::optional<std::uint64_t> first;
    elf::for_each_range(function, [&first](std::uint64_t start, std::uint64_t) {
        if (!first)
            first = start;
    });
    return first;
}

bool is_named(Dwarf_Die &function, std::string_view symbol) {
    for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
        Dwarf_Attribute attribute;
        if (const char *text = dwarf_formstring(dwarf_attr_integrate(&function, name, &attribute)))
            return symbol == text;
    }
    return false;
}

bool encloses_functions(int tag) {
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

} // namespace

void FunctionIndex::index(Dwarf_Die &unit, Depth depth) {
    std::uint64_t passed = dwarf_dieoffset(&unit);
    elf::visit_below(unit, passed, 0, [&](Dwarf_Die &die) {
        const int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram)
            if (const auto entry = entry_of(die))
                by_entry_.emplace(*entry, die);
        return depth == Depth::all || encloses_functions(tag);
    });
}

std::optional<Dwarf_Die> FunctionIndex::known(std::uint64_t address, std::string_view symbol) const {
    const auto [begin, end] = by_entry_.equal_range(address);
    if (begin == end)
        return std::nullopt;
    for (auto found = begin; found != end; ++found)
        if (Dwarf_Die die = found->second; is_named(die, symbol))
            return die;
    return begin->second;
}

// Few functions are local to others, which takes long to find.
std::optional<Dwarf_Die> FunctionIndex::at(std::uint64_t address, std::string_view symbol) {
    Dwarf_Die unit;
    if (!file_.unit_at(address, unit))
        return std::nullopt;
    const std::uint64_t number = dwarf_dieoffset(&unit);
    if (indexed_.insert(number).second)
        index(unit, Depth::usual);
    if (auto found = known(address, symbol))
        return found;
    if (!indexed_whole_.insert(number).second)
        return std::nullopt;
    index(unit, Depth::all);
    return known(address, symbol);
}

} // namespace argtrace::dwarf
