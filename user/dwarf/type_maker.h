// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include <elfutils/libdw.h>

#include "dwarf/made_type.h"
#include "dwarf/scopes.h"

namespace argtrace::dwarf {

/// How many structs are described whole that are reached by pointers alone. Of those behind them the name is known. The nearest to the
/// functions are the first, and those that are parts of others do not count.
inline constexpr std::size_t reached_structs_max = 4000;

/// Makes types of DIEs, and of what they refer to. The same type of several units is made once.
class TypeMaker {
public:
    TypeMaker(MadeTypes &made, Scopes &scopes) : made_(made), scopes_(scopes) {}

    /// The number of a DIE's type (DW_AT_type); 0, void, if it has none. What it says is known after finish().
    std::uint32_t type_of(Dwarf_Die &die);

    std::uint32_t pointer_to(std::uint32_t type);
    std::uint32_t reference_to(std::uint32_t type);

    /// Describes what has been asked for so far, and after that no more.
    void finish();

private:
    /// When a type is described.
    enum class Turn : bool {
        now,   ///< it is needed whole
        later, ///< it is behind a pointer
    };
    struct Pending {
        Dwarf_Die die;
        std::uint32_t id;
    };

    std::uint32_t number_of_type(Dwarf_Die die, Turn turn);
    std::uint32_t target_of(Dwarf_Die &die, Turn turn);
    std::string key_of(Dwarf_Die &die);
    std::string full_name(Dwarf_Die &die);
    void want_whole(std::uint32_t id);
    void describe(Pending pending, Turn turn);
    void describe_complex(MadeType &made);
    void describe_number(Dwarf_Die &die, MadeType &made);
    void describe_composite(Dwarf_Die &die, std::uint32_t id);
    std::optional<MadeType::Field> field_of(Dwarf_Die &parent, Dwarf_Die &child, bool &is_partial);
    void add_variants(Dwarf_Die &parent, Dwarf_Die &part, MadeType &made);
    void describe_array(Dwarf_Die &die, std::uint32_t id, Turn turn);
    void describe_enumeration(Dwarf_Die &die, std::uint32_t id);
    void describe_prototype(Dwarf_Die &die, std::uint32_t id);
    void describe_member_pointer(Dwarf_Die &die, std::uint32_t id);

    MadeTypes &made_;
    Scopes &scopes_;
    std::unordered_map<const void *, std::uint32_t> by_die_;
    std::unordered_map<std::string, std::uint32_t> by_key_;
    std::unordered_map<std::uint32_t, std::uint32_t> pointers_, references_; ///< by target
    std::unordered_map<std::uint32_t, Dwarf_Die> undescribed_;
    std::deque<Pending> now_, later_;
    std::size_t reached_structs_ = 0;
    bool is_closing_ = false; ///< there is no room for further structs
};

} // namespace argtrace::dwarf
