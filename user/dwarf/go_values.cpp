// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/go_values.h"

#include <algorithm>
#include <limits>
#include <span>

#include "btf/limits.h"
#include "dwarf/attributes.h"
#include "dwarf/entry_place.h"

namespace argtrace::dwarf {

namespace {

using Kind = MadeType::Kind;

// Go's cmd/internal/dwarf and reflect/type.go
constexpr unsigned go_kind_attribute = 0x2900;
constexpr unsigned go_embedded_attribute = 0x2903, go_dictionary_attribute = 0x2906;
constexpr std::uint64_t go_kind_mask = 31, go_function_kind = 19;

constexpr std::uint32_t go_word = 8;
constexpr std::size_t go_parts_max = 64; // those of larger values are in memory

std::uint32_t alignment_of(std::uint64_t bytes) {
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes, 1, go_word));
}

struct GoSize {
    std::uint64_t bytes = 0;
    std::uint32_t alignment = 1;
};

/// The alignment is that of what the type has of the largest, and of no meaning where that is not known.
GoSize go_size(const MadeTypes &types, std::uint32_t id, int depth = 0) {
    const MadeType *type = types.bare(id);
    if (!type || depth > depth_max)
        return {};
    switch (type->kind) {
    case Kind::pointer:
        return {go_word, go_word};
    case Kind::floating:
        return {type->size, alignment_of(type->size)};
    case Kind::array: {
        const GoSize element = go_size(types, type->target, depth + 1);
        const bool is_too_large = element.bytes > 0 && type->size > std::numeric_limits<std::uint32_t>::max() / element.bytes;
        return {is_too_large ? std::numeric_limits<std::uint64_t>::max() : type->size * element.bytes, element.alignment};
    }
    case Kind::structure: {
        GoSize whole{type->size, 1};
        for (const MadeType::Field &field : type->fields)
            whole.alignment = std::max(whole.alignment, go_size(types, field.type, depth + 1).alignment);
        return whole;
    }
    default:
        return {type->size, alignment_of(type->size)};
    }
}

class GoPartCollector {
public:
    explicit GoPartCollector(const MadeTypes &types) : types_(types) {}

    GoValue run(std::uint32_t type) {
        GoValue value;
        value.is_known = visit(type, 0, 0);
        const GoSize size = go_size(types_, type);
        value.is_known = value.is_known && size.bytes <= std::numeric_limits<std::uint32_t>::max();
        value.bytes = static_cast<std::uint32_t>(size.bytes);
        value.alignment = size.alignment;
        if (value.is_known && !is_in_memory_)
            value.parts = std::move(parts_);
        return value;
    }

private:
    bool add(std::uint64_t offset, std::uint64_t bytes, bool is_floating = false) {
        parts_.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes), is_floating});
        is_in_memory_ = is_in_memory_ || parts_.size() > go_parts_max;
        return bytes > 0 && bytes <= go_word;
    }

    bool visit(std::uint32_t id, std::uint64_t offset, int depth) {
        const MadeType *type = types_.bare(id);
        if (!type || depth > depth_max || type->is_partial)
            return false;
        if (is_in_memory_)
            return true;
        switch (type->kind) {
        case Kind::integer:
        case Kind::enumeration:
            return add(offset, type->size);
        case Kind::pointer:
            return add(offset, go_word);
        case Kind::floating:
            return add(offset, type->size, true);
        case Kind::array:
            is_in_memory_ = type->size > 1;
            return type->size != 1 || visit(type->target, offset, depth + 1);
        case Kind::structure:
            for (const MadeType::Field &field : type->fields)
                if (field.bits != 0 || !visit(field.type, offset + field.bit / 8, depth + 1))
                    return false;
            return true;
        default:
            return false;
        }
    }

    const MadeTypes &types_;
    std::vector<RegisterPart> parts_;
    bool is_in_memory_ = false;
};

// LEB128, of which nothing may follow.
std::optional<std::int64_t> signed_number(std::span<const unsigned char> bytes) {
    std::uint64_t number = 0;
    unsigned bits = 0;
    for (std::size_t i = 0; i < bytes.size(); i++) {
        number |= std::uint64_t{bytes[i] & 0x7fu} << bits;
        bits += 7;
        if (bytes[i] & 0x80)
            continue;
        if (i + 1 < bytes.size())
            return std::nullopt;
        return static_cast<std::int64_t>(number << (64 - bits)) >> (64 - bits);
    }
    return std::nullopt;
}

} // namespace

bool is_go_result(Dwarf_Die &parameter) {
    return has_flag_in_all(parameter, DW_AT_variable_parameter);
}

GoKind go_kind(Dwarf_Die &type) {
    return go_kind_of(number_of(type, go_kind_attribute).value_or(0) & go_kind_mask);
}

bool is_go_function(Dwarf_Die &type) {
    return dwarf_tag(&type) == DW_TAG_subroutine_type && (number_of(type, go_kind_attribute).value_or(0) & go_kind_mask) == go_function_kind;
}

bool is_go_embedded(Dwarf_Die &member) {
    return has_flag(member, go_embedded_attribute);
}

bool is_go_type_parameter(Dwarf_Die &type) {
    return dwarf_tag(&type) == DW_TAG_typedef && dwarf_hasattr(&type, go_dictionary_attribute);
}

GoValue go_value(const MadeTypes &types, std::uint32_t type) {
    return GoPartCollector(types).run(type);
}

std::optional<std::vector<unsigned>> go_entry_registers(Dwarf_Die &parameter, Dwarf_Addr entry) {
    if (!has_location_list(parameter))
        return std::nullopt;
    // Places in a frame, which the function would tell of, are none of these.
    const EntryPlace place = entry_place(parameter, parameter, entry);
    if (place.kind != EntryPlace::Kind::registers)
        return std::nullopt;
    return place.registers;
}

// Go's linker writes an expression as a block, as DWARF 3 had it, whatever the version: libdw does not take it.
std::optional<std::uint32_t> go_stack_place(Dwarf_Die &parameter, Dwarf_Addr entry, std::int64_t frame_above_stack) {
    constexpr std::int64_t offset_max = std::numeric_limits<std::int16_t>::max();
    Dwarf_Attribute attribute;
    if (!dwarf_attr(&parameter, DW_AT_location, &attribute))
        return std::nullopt;
    std::int64_t offset = -1;
    if (has_location_list(parameter)) {
        Dwarf_Op *operations = nullptr;
        std::size_t count = 0;
        if (dwarf_getlocation_addr(&attribute, entry, &operations, &count, 1) != 1 || count != 1)
            return std::nullopt;
        if (operations[0].atom == DW_OP_call_frame_cfa)
            offset = 0;
        else if (operations[0].atom == DW_OP_fbreg)
            offset = static_cast<std::int64_t>(operations[0].number);
    } else {
        Dwarf_Block block;
        if (dwarf_formblock(&attribute, &block) != 0 || block.length < 1 || block.length > 4)
            return std::nullopt;
        if (block.length == 1 && block.data[0] == DW_OP_call_frame_cfa)
            offset = 0;
        else if (block.length > 1 && block.data[0] == DW_OP_fbreg)
            offset = signed_number({block.data + 1, block.length - 1}).value_or(-1);
    }
    if (offset < 0 || offset > offset_max)
        return std::nullopt;
    return static_cast<std::uint32_t>(frame_above_stack + offset);
}

} // namespace argtrace::dwarf
