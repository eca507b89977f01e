// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/language.h"

#include <cstdlib>
#include <string_view>

#include "dwarf/attributes.h"

namespace argtrace::dwarf {

namespace {

// DWARF 5 and what has been assigned since, which older headers lack.
constexpr int language_cplusplus_17 = 0x2a, language_cplusplus_20 = 0x2b, language_c17 = 0x2c;

} // namespace

Language language_of(Dwarf_Die &unit) {
    switch (dwarf_srclang(&unit)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case language_c17:
        return Language::c;
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case language_cplusplus_17:
    case language_cplusplus_20:
        return Language::cplusplus;
    case DW_LANG_Go:
        return Language::go;
    case DW_LANG_Rust:
        return Language::rust;
    default:
        return Language::other;
    }
}

namespace {

std::string_view producer_of(Dwarf_Die &unit) {
    Dwarf_Attribute attribute;
    const char *text = dwarf_formstring(dwarf_attr(&unit, DW_AT_producer, &attribute));
    return text ? text : "";
}

} // namespace

bool has_attributes_of_version_5(Dwarf_Die &die, unsigned gcc_since) {
    auto unit = unit_of(die);
    if (!unit)
        return false;
    Dwarf_Half version = 0;
    if (dwarf_cu_info(unit->cu, &version, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) != 0)
        return false;
    if (version >= 5)
        return true;
    const std::string_view producer = producer_of(*unit);
    const std::size_t number = producer.find(' ', std::string_view("GNU C").size()); // "GNU C++17 12.2.0 -gdwarf-4"
    return producer.starts_with("GNU C") && number != producer.npos && producer.find("strict-dwarf") == producer.npos &&
           std::strtoul(producer.data() + number, nullptr, 10) >= gcc_since;
}

bool is_made_by_llvm(Dwarf_Die &unit) {
    const std::string_view producer = producer_of(unit);
    return producer.find("clang") != producer.npos || producer.find("rustc") != producer.npos; // "Debian clang version 14.0.6"
}

bool has_types(Dwarf_Die &unit) {
    bool found = false;
    visit_children(unit, [&found](Dwarf_Die &child) {
        switch (dwarf_tag(&child)) {
        case DW_TAG_base_type:
        case DW_TAG_pointer_type:
        case DW_TAG_structure_type:
        case DW_TAG_typedef:
        case DW_TAG_imported_unit: // of dwz, which has them
            found = true;
            break;
        default:
            break;
        }
        return !found;
    });
    return found;
}

} // namespace argtrace::dwarf
