// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/go_types.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "dwarf/attributes.h"
#include "dwarf/language.h"

namespace argtrace::dwarf {

namespace {

// Go's cmd/internal/dwarf: where the runtime describes the type, as an offset from runtime.types.
constexpr unsigned go_runtime_type_attribute = 0x2904;

// errors.New() and fmt.Errorf() make these, which are a text, or begin with one.
constexpr std::string_view text_types[] = {"string", "*errors.errorString", "*fmt.wrapError"};

std::optional<std::uint32_t> offset_in(Dwarf_Die &structure, std::string_view name) {
    std::optional<std::uint32_t> offset;
    visit_children(structure, [&offset, name](Dwarf_Die &member) {
        if (dwarf_tag(&member) == DW_TAG_member && name_of(member) == name)
            if (const auto place = number_of(member, DW_AT_data_member_location); place && *place < 4096)
                offset = static_cast<std::uint32_t>(*place);
        return !offset;
    });
    return offset;
}

// It has the form of an address, or of a number.
std::optional<std::uint64_t> runtime_type(Dwarf_Die &type) {
    Dwarf_Attribute attribute;
    Dwarf_Addr address = 0;
    if (dwarf_formaddr(dwarf_attr(&type, go_runtime_type_attribute, &attribute), &address) == 0)
        return address;
    return number_of(type, go_runtime_type_attribute);
}

} // namespace

GoTypes go_types(const elf::DwarfFile &file) {
    GoTypes found;
    for (Dwarf_Die unit : file.units()) {
        if (language_of(unit) != Language::go)
            continue;
        visit_children(unit, [&found](Dwarf_Die &die) {
            const int tag = dwarf_tag(&die);
            if (tag == DW_TAG_structure_type && !found.goroutine_id && name_of(die) == "runtime.g") {
                found.goroutine_id = offset_in(die, "goid");
                found.m = offset_in(die, "m");
                found.beginning = offset_in(die, "gopc");
            } else if (tag == DW_TAG_structure_type && !found.curg && name_of(die) == "runtime.m") {
                found.g0 = offset_in(die, "g0");
                found.curg = offset_in(die, "curg");
            }
            const bool may_be_text = tag == DW_TAG_structure_type || tag == DW_TAG_pointer_type;
            if (may_be_text && std::ranges::find(text_types, name_of(die)) != std::end(text_types))
                if (const auto offset = runtime_type(die); offset && *offset != 0)
                    found.texts.push_back(*offset);
            return true;
        });
        if (found.goroutine_id) // all types are in one unit
            break;
    }
    return found;
}

} // namespace argtrace::dwarf
