// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/non_trivial.h"

#include <string_view>

#include "btf/limits.h"
#include "dwarf/attributes.h"
#include "dwarf/language.h"

namespace argtrace::dwarf {

namespace {

// Whether the compiler says which functions are defaulted in their class, as those may be trivial.
bool says_defaulted(Dwarf_Die &type) {
    constexpr unsigned gcc_since = 7;
    return has_attributes_of_version_5(type, gcc_since);
}

// Whether a parameter is a reference to that class, and not to another of its template, which is converted.
bool refers_to(Dwarf_Die &parameter, std::string_view class_name) {
    auto type = referred(parameter, DW_AT_type);
    const int tag = type ? dwarf_tag(&*type) : 0;
    if (tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type)
        return false;
    auto target = referred(*type, DW_AT_type);
    Dwarf_Die bare;
    return !target || dwarf_peel_type(&*target, &bare) != 0 || name_of(bare) == class_name;
}

// A constructor that copies or moves, or a destructor, which the class declares itself.
bool is_copying(Dwarf_Die &function, std::string_view class_name) {
    const std::string_view name = name_of(function);
    if (number_of(function, DW_AT_defaulted).value_or(DW_DEFAULTED_no) == DW_DEFAULTED_in_class)
        return false;
    if (name.starts_with('~'))
        return true;
    if (name != class_name.substr(0, class_name.find('<')))
        return false;
    int parameters = 0;
    bool takes_reference = false;
    visit_children(function, [&](Dwarf_Die &child) {
        if (dwarf_tag(&child) != DW_TAG_formal_parameter || has_flag(child, DW_AT_artificial))
            return true;
        takes_reference = parameters++ == 0 && refers_to(child, class_name);
        return parameters < 2;
    });
    return parameters == 1 && takes_reference;
}

ClassPassing declared_passing(Dwarf_Die &type, int depth) {
    ClassPassing passing = ClassPassing::by_value;
    const std::string_view name = name_of(type);
    const auto of_part = [&](Dwarf_Die &part) {
        auto part_type = referred(part, DW_AT_type);
        Dwarf_Die bare;
        const bool is_inside = !has_flag(part, DW_AT_external) && !has_flag(part, DW_AT_declaration);
        if (!is_inside || !part_type || dwarf_peel_type(&*part_type, &bare) != 0 || bare.addr == type.addr)
            return ClassPassing::by_value;
        if (dwarf_tag(&bare) != DW_TAG_class_type && dwarf_tag(&bare) != DW_TAG_structure_type)
            return ClassPassing::by_value;
        return depth < depth_max ? declared_passing(bare, depth + 1) : ClassPassing::unsure;
    };
    visit_children(type, [&](Dwarf_Die &child) {
        const int tag = dwarf_tag(&child);
        const bool is_part = tag == DW_TAG_member || tag == DW_TAG_inheritance;
        if ((is_part || tag == DW_TAG_subprogram) && number_of(child, DW_AT_virtuality).value_or(0) != 0)
            passing = ClassPassing::by_reference;
        else if (tag == DW_TAG_subprogram && is_copying(child, name))
            passing = !has_flag(child, DW_AT_deleted) && says_defaulted(type) ? ClassPassing::by_reference : ClassPassing::unsure;
        else if (is_part)
            if (const ClassPassing part = of_part(child); part != ClassPassing::by_value)
                passing = part;
        return passing != ClassPassing::by_reference;
    });
    return passing;
}

} // namespace

ClassPassing passing_of(Dwarf_Die &type) {
    if (const auto convention = number_of(type, DW_AT_calling_convention))
        return *convention == DW_CC_pass_by_reference ? ClassPassing::by_reference : ClassPassing::by_value;
    return declared_passing(type, 0);
}

} // namespace argtrace::dwarf
