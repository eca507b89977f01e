// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>

#include <elfutils/libdw.h>

namespace argtrace::dwarf {

struct MemberPlace {
    std::uint64_t bit = 0;  ///< from the beginning of the struct
    std::uint32_t bits = 0; ///< of a bit-field, else 0
};

/// Where a member or a base class is in its struct; nothing if that is computed from an object, or is nowhere in it.
std::optional<MemberPlace> member_place(Dwarf_Die &parent, Dwarf_Die &member);

} // namespace argtrace::dwarf
