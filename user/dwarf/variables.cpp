// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/variables.h"

#include <algorithm>
#include <limits>
#include <set>
#include <span>

#include "dwarf/attributes.h"
#include "dwarf/operations.h"
#include "elf/dwarf_file.h"

namespace argtrace::dwarf {

namespace {

using VariableKind = VariablePlace::Kind;

bool is_function(Dwarf_Die &die) {
    return dwarf_tag(&die) == DW_TAG_subprogram || dwarf_tag(&die) == DW_TAG_inlined_subroutine;
}

// The function that has the instruction, and within it what is inlined and the blocks that have it, the innermost last.
std::vector<Dwarf_Die> scopes_at(Dwarf_Die &unit, Dwarf_Addr address) {
    std::vector<Dwarf_Die> scopes;
    std::uint64_t passed = dwarf_dieoffset(&unit);
    elf::visit_below(unit, passed, 0, [&](Dwarf_Die &die) {
        if (scopes.empty() && dwarf_tag(&die) == DW_TAG_subprogram && dwarf_haspc(&die, address) > 0)
            scopes.push_back(die);
        return scopes.empty() && dwarf_tag(&die) == DW_TAG_namespace;
    });
    for (bool found = !scopes.empty(); found && scopes.size() < elf::nesting_max;) {
        found = false;
        Dwarf_Die parent = scopes.back();
        visit_children(parent, [&](Dwarf_Die &child) {
            found = (dwarf_tag(&child) == DW_TAG_lexical_block || dwarf_tag(&child) == DW_TAG_inlined_subroutine) && dwarf_haspc(&child, address) > 0;
            if (found)
                scopes.push_back(child);
            return !found;
        });
    }
    return scopes;
}

// Others, which compilers make up, are no names of expressions.
bool is_identifier(std::string_view name) {
    const auto is_letter = [](char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// The path of the source. That of the unit itself is number 0 since DWARF 5, which libdw does not know.
std::string_view source_of(Dwarf_Die &declared) {
    if (const char *path = dwarf_decl_file(&declared))
        return path;
    auto unit = unit_of(declared);
    return unit ? name_of(*unit) : std::string_view();
}

// A variable that is declared later does not hide another one of its name yet.
bool is_declared_before(Dwarf_Die &declared, const LineAddress &at) {
    int line = 0;
    return dwarf_tag(&declared) == DW_TAG_formal_parameter || dwarf_decl_line(&declared, &line) != 0 || line < at.line ||
           !source_of(declared).ends_with(at.file);
}

std::optional<std::int64_t> constant_of(const Dwarf_Op &operation) {
    if (operation.atom >= DW_OP_lit0 && operation.atom <= DW_OP_lit31)
        return operation.atom - DW_OP_lit0;
    switch (operation.atom) {
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
        return static_cast<std::int64_t>(operation.number);
    default:
        return std::nullopt;
    }
}

// Where what is neither in a register nor on the stack is.
std::optional<Dwarf_Addr> address_of(Dwarf_Attribute &attribute, const Dwarf_Op &operation) {
    Dwarf_Attribute indexed;
    Dwarf_Addr address = 0;
    if (operation.atom == DW_OP_addr)
        return operation.number;
    if ((operation.atom == DW_OP_addrx || operation.atom == DW_OP_GNU_addr_index) && dwarf_getlocation_attr(&attribute, &operation, &indexed) == 0 &&
        dwarf_formaddr(&indexed, &address) == 0)
        return address;
    return std::nullopt;
}

// A register and what is added to it, as memory.
std::optional<VariablePlace> based_on(const Dwarf_Op &operation) {
    if (operation.atom >= DW_OP_breg0 && operation.atom <= DW_OP_breg31)
        return VariablePlace{VariableKind::memory, static_cast<unsigned>(operation.atom - DW_OP_breg0), static_cast<std::int64_t>(operation.number)};
    if (operation.atom == DW_OP_bregx)
        return VariablePlace{VariableKind::memory, static_cast<unsigned>(operation.number), static_cast<std::int64_t>(operation.number2)};
    return std::nullopt;
}

// A damaged file may have any numbers.
std::int64_t sum_of(std::int64_t one, std::int64_t other) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(one) + static_cast<std::uint64_t>(other));
}

class Places {
public:
    Places(Dwarf_Die function, const LineAddress &at) : function_(function), at_(at) {}

    VariablePlace of(Dwarf_Die die) {
        Dwarf_Attribute attribute;
        if (dwarf_attr_integrate(&die, DW_AT_const_value, &attribute))
            return constant(attribute);
        Dwarf_Op *operations = nullptr;
        std::size_t count = 0;
        if (!dwarf_attr(&die, DW_AT_location, &attribute) || dwarf_getlocation_addr(&attribute, at_.address, &operations, &count, 1) != 1)
            return {};
        return place(attribute, {operations, count});
    }

private:
    static VariablePlace constant(Dwarf_Attribute &attribute) {
        Dwarf_Sword number = 0;
        Dwarf_Word word = 0;
        const unsigned form = dwarf_whatform(&attribute);
        if ((form == DW_FORM_sdata || form == DW_FORM_implicit_const) && dwarf_formsdata(&attribute, &number) == 0)
            return {VariableKind::constant, 0, number};
        if (dwarf_formudata(&attribute, &word) == 0)
            return {VariableKind::constant, 0, static_cast<std::int64_t>(word)};
        return {};
    }

    VariablePlace place(Dwarf_Attribute &attribute, std::span<const Dwarf_Op> operations) {
        if (operations.empty())
            return {};
        const bool is_value = operations.size() == 2 && operations[1].atom == DW_OP_stack_value;
        if (is_value || operations.size() == 1)
            if (const auto found = one(attribute, operations[0], is_value))
                return *found;
        return pieces(operations);
    }

    std::optional<VariablePlace> one(Dwarf_Attribute &attribute, const Dwarf_Op &operation, bool is_value) {
        std::optional<VariablePlace> found = operation.atom == DW_OP_fbreg ? in_frame(static_cast<std::int64_t>(operation.number)) : based_on(operation);
        if (found && is_value)
            found->kind = VariableKind::sum;
        if (found)
            return found;
        if (const auto number = constant_of(operation); number && is_value)
            return VariablePlace{VariableKind::constant, 0, *number};
        // Wherever the object is loaded, it is as far from the instruction.
        if (const auto address = address_of(attribute, operation); address && !is_value)
            return VariablePlace{VariableKind::from_here, 0, static_cast<std::int64_t>(*address - at_.address)};
        return std::nullopt;
    }

    // A register, or registers with a piece each.
    static VariablePlace pieces(std::span<const Dwarf_Op> operations) {
        VariablePlace found{VariableKind::registers};
        for (std::size_t i = 0; i < operations.size(); i += 2) {
            const auto number = register_of(operations[i]);
            const bool is_piece = i + 1 < operations.size();
            if (!number || (is_piece && operations[i + 1].atom != DW_OP_piece) || (!is_piece && i > 0))
                return {};
            const auto bytes = is_piece ? operations[i + 1].number : 0;
            if (bytes > std::numeric_limits<std::uint8_t>::max())
                return {};
            found.pieces.push_back({*number, static_cast<std::uint32_t>(bytes)});
        }
        return found;
    }

    std::optional<VariablePlace> in_frame(std::int64_t offset) {
        Dwarf_Attribute attribute;
        Dwarf_Op *operations = nullptr;
        std::size_t count = 0;
        if (!dwarf_attr_integrate(&function_, DW_AT_frame_base, &attribute) ||
            dwarf_getlocation_addr(&attribute, at_.address, &operations, &count, 1) != 1 || count != 1)
            return std::nullopt;
        if (operations[0].atom == DW_OP_call_frame_cfa && at_.frame_offset)
            return VariablePlace{VariableKind::memory, at_.frame_register, sum_of(*at_.frame_offset, offset)};
        if (const auto number = register_of(operations[0]))
            return VariablePlace{VariableKind::memory, *number, offset};
        std::optional<VariablePlace> base = based_on(operations[0]);
        if (base)
            base->number = sum_of(base->number, offset);
        return base;
    }

    Dwarf_Die function_;
    const LineAddress &at_;
};

} // namespace

std::vector<Variable> variables_at(Dwarf_Die &unit, const LineAddress &at) {
    std::vector<Dwarf_Die> scopes = scopes_at(unit, at.address);
    std::vector<Variable> found;
    if (scopes.empty())
        return found;
    Places places(scopes.front(), at);
    std::set<std::string_view> names;
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
        std::vector<Variable> here;
        visit_children(*scope, [&](Dwarf_Die &child) {
            Dwarf_Die declared = origin_of(child);
            const int tag = dwarf_tag(&child);
            if ((tag != DW_TAG_formal_parameter && tag != DW_TAG_variable) || !is_identifier(name_of(declared)) || !is_declared_before(declared, at) ||
                has_flag_in_all(child, DW_AT_declaration))
                return true;
            // The last one of a block that is before the line counts: not each `for` has a block of its own.
            const auto same = std::ranges::find_if(here, [&](Variable &one) { return name_of(one.declared) == name_of(declared); });
            if (same != here.end())
                *same = {declared, places.of(child)};
            else if (!names.contains(name_of(declared)))
                here.push_back({declared, places.of(child)});
            return true;
        });
        for (Variable &one : here)
            names.insert(name_of(one.declared));
        // Outer scopes come first.
        found.insert(found.begin(), here.begin(), here.end());
        if (is_function(*scope))
            break;
    }
    std::stable_partition(found.begin(), found.end(), [](Variable &one) { return dwarf_tag(&one.declared) == DW_TAG_formal_parameter; });
    return found;
}

} // namespace argtrace::dwarf
