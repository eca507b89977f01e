// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/member_place.h"

#include "dwarf/attributes.h"

namespace argtrace::dwarf {

namespace {

constexpr std::uint32_t field_bits_max = 128;

// A number, or as DWARF 2 has it an expression that adds one to the address of the struct.
std::optional<std::uint64_t> byte_offset(Dwarf_Die &member) {
    Dwarf_Attribute attribute;
    if (!dwarf_attr(&member, DW_AT_data_member_location, &attribute))
        return 0;
    Dwarf_Word number = 0;
    if (dwarf_formudata(&attribute, &number) == 0)
        return number;
    Dwarf_Op *operations = nullptr;
    std::size_t count = 0;
    if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1 || operations[0].atom != DW_OP_plus_uconst)
        return std::nullopt;
    return operations[0].number;
}

// The bytes that DW_AT_bit_offset counts in from the other end: the member's, or its type's.
std::optional<std::uint64_t> storage_bytes(Dwarf_Die &member) {
    if (const auto own = number_of(member, DW_AT_byte_size))
        return own;
    auto type = referred(member, DW_AT_type);
    Dwarf_Die bare;
    if (!type || dwarf_peel_type(&*type, &bare) != 0)
        return std::nullopt;
    return number_of(bare, DW_AT_byte_size);
}

} // namespace

std::optional<MemberPlace> member_place(Dwarf_Die &parent, Dwarf_Die &member) {
    const auto bytes = byte_offset(member);
    const std::uint64_t size = number_of(parent, DW_AT_byte_size).value_or(0);
    if (!bytes || *bytes > size)
        return std::nullopt;
    MemberPlace place{8 * *bytes, 0};
    if (const auto bits = number_of(member, DW_AT_bit_size)) {
        if (*bits == 0 || *bits > field_bits_max)
            return std::nullopt;
        place.bits = static_cast<std::uint32_t>(*bits);
        if (const auto first = number_of(member, DW_AT_data_bit_offset)) {
            place.bit += *first;
        } else if (const auto from_end = number_of(member, DW_AT_bit_offset)) {
            const auto storage = storage_bytes(member);
            if (!storage || *storage > size || *from_end + *bits > 8 * *storage) // it may be negative, and is then a large number
                return std::nullopt;
            place.bit += 8 * *storage - *from_end - *bits;
        }
    }
    if (place.bit > 8 * size || place.bit + place.bits > 8 * size)
        return std::nullopt;
    return place;
}

} // namespace argtrace::dwarf
