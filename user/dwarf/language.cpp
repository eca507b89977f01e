// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/language.h"

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
