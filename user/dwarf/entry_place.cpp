// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/entry_place.h"

#include <algorithm>
#include <optional>
#include <span>

#include "dwarf/attributes.h"
#include "dwarf/operations.h"

namespace argtrace::dwarf {

namespace {

using PlaceKind = EntryPlace::Kind;

// The register that an address is in, with nothing added.
std::optional<unsigned> address_register_of(const Dwarf_Op &operation) {
    if (operation.atom >= DW_OP_breg0 && operation.atom <= DW_OP_breg31 && operation.number == 0)
        return operation.atom - DW_OP_breg0;
    if (operation.atom == DW_OP_bregx && operation.number2 == 0)
        return static_cast<unsigned>(operation.number);
    return std::nullopt;
}

// What a register had when the function was entered, which is now.
std::optional<unsigned> entry_value_of(Dwarf_Attribute &attribute, const Dwarf_Op &operation) {
    Dwarf_Attribute inner;
    Dwarf_Op *operations = nullptr;
    std::size_t count = 0;
    if ((operation.atom != DW_OP_entry_value && operation.atom != DW_OP_GNU_entry_value) ||
        dwarf_getlocation_attr(&attribute, &operation, &inner) != 0 || dwarf_getlocation(&inner, &operations, &count) != 0 || count != 1)
        return std::nullopt;
    return register_of(operations[0]);
}

EntryPlace place_of(Dwarf_Attribute &attribute, std::span<const Dwarf_Op> operations) {
    if (operations.size() == 2 && operations[1].atom == DW_OP_stack_value) {
        if (const auto number = address_register_of(operations[0]))
            return {PlaceKind::registers, {*number}};
        if (const auto number = entry_value_of(attribute, operations[0]))
            return {PlaceKind::registers, {*number}};
    }
    if (operations.size() == 1)
        if (const auto number = address_register_of(operations[0]))
            return {PlaceKind::address, {*number}};
    // A register, or registers with a piece each.
    EntryPlace place{PlaceKind::registers};
    const bool has_pieces = std::ranges::any_of(operations, [](const Dwarf_Op &operation) { return operation.atom == DW_OP_piece; });
    for (std::size_t i = 0; i < operations.size(); i++) {
        const auto number = register_of(operations[i]);
        const bool is_followed = i + 1 < operations.size();
        if (!number || (is_followed && operations[i + 1].atom != DW_OP_piece))
            return {has_pieces ? PlaceKind::in_part : PlaceKind::elsewhere};
        place.registers.push_back(*number);
        if (is_followed)
            place.bytes.push_back(static_cast<std::uint32_t>(operations[i + 1].number));
        i += is_followed;
    }
    if (!place.bytes.empty() && place.bytes.size() != place.registers.size())
        return {PlaceKind::in_part};
    return place.registers.empty() ? EntryPlace{PlaceKind::elsewhere} : place;
}

// The offset from the frame base.
std::optional<std::int64_t> frame_offset_of(std::span<const Dwarf_Op> operations) {
    if (operations.size() != 1 || operations[0].atom != DW_OP_fbreg)
        return std::nullopt;
    return static_cast<std::int64_t>(operations[0].number);
}

// Whether the frame base is the canonical frame address when the function is entered.
bool has_canonical_frame(Dwarf_Die &function, Dwarf_Addr entry) {
    Dwarf_Attribute attribute;
    Dwarf_Op *operations = nullptr;
    std::size_t count = 0;
    return dwarf_attr_integrate(&function, DW_AT_frame_base, &attribute) && dwarf_getlocation_addr(&attribute, entry, &operations, &count, 1) == 1 &&
           count == 1 && operations[0].atom == DW_OP_call_frame_cfa;
}

} // namespace

bool has_location_list(Dwarf_Die &die) {
    Dwarf_Attribute attribute;
    const unsigned form = dwarf_attr(&die, DW_AT_location, &attribute) ? dwarf_whatform(&attribute) : 0;
    return form == DW_FORM_sec_offset || form == DW_FORM_loclistx || form == DW_FORM_data4 || form == DW_FORM_data8;
}

EntryPlace entry_place(Dwarf_Die &function, Dwarf_Die &parameter, Dwarf_Addr entry) {
    Dwarf_Attribute attribute;
    Dwarf_Op *operations = nullptr;
    std::size_t count = 0;
    if (dwarf_hasattr(&parameter, DW_AT_const_value))
        return {PlaceKind::elsewhere};
    if (!dwarf_attr(&parameter, DW_AT_location, &attribute))
        return {};
    if (dwarf_getlocation_addr(&attribute, entry, &operations, &count, 1) != 1)
        return {};
    EntryPlace place = place_of(attribute, {operations, count});
    if (const auto offset = frame_offset_of({operations, count}); offset && has_canonical_frame(function, entry))
        place = {.kind = PlaceKind::frame, .offset = *offset};
    // An expression alone holds in the whole function, but the slot that it names is written only after the entry.
    return has_location_list(parameter) || place.kind == PlaceKind::registers ? place : EntryPlace{};
}

EntryPlace place_after_entry(Dwarf_Die &parameter, Dwarf_Addr entry) {
    constexpr Dwarf_Addr frame_taken_max = 32; // bytes of instructions
    Dwarf_Attribute attribute;
    Dwarf_Addr base = 0, start = 0, end = 0;
    Dwarf_Op *operations = nullptr;
    std::size_t count = 0;
    if (!has_location_list(parameter) || !dwarf_attr(&parameter, DW_AT_location, &attribute) ||
        dwarf_getlocations(&attribute, 0, &base, &start, &end, &operations, &count) <= 0 || start < entry || start - entry > frame_taken_max)
        return {};
    return place_of(attribute, {operations, count});
}

} // namespace argtrace::dwarf
