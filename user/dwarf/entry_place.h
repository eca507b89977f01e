// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <vector>

#include <elfutils/libdw.h>

namespace argtrace::dwarf {

/// Where DWARF says that a parameter is when its function is entered.
struct EntryPlace {
    enum class Kind {
        unsaid,    ///< nowhere, or in a place that is valid only later: the slot of a function that was not optimised
        registers, ///< it is in these
        in_part,   ///< of parts of it alone a register is said
        address,   ///< in memory at the address that is in this register
        frame,     ///< in memory at an offset from the canonical frame address
        elsewhere, ///< not in one place, or it is no longer passed at all
    };

    Kind kind = Kind::unsaid;
    std::vector<unsigned> registers = {}; ///< DWARF's numbers
    std::vector<std::uint32_t> bytes = {}; ///< in each of them; empty: all of it is in one
    std::int64_t offset = 0;              ///< frame: in bytes
};

/// Whether its place differs from one instruction to another (a location list).
bool has_location_list(Dwarf_Die &die);

/// `parameter` is that of `function`, and `entry` DWARF's address of its first instruction.
EntryPlace entry_place(Dwarf_Die &function, Dwarf_Die &parameter, Dwarf_Addr entry);

/// Where the first place of a list says that it is, if that begins soon behind the entry, where the function has taken its frame.
EntryPlace place_after_entry(Dwarf_Die &parameter, Dwarf_Addr entry);

} // namespace argtrace::dwarf
