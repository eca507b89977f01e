// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <elfutils/libdw.h>

#include "btf/prototype.h"
#include "dwarf/made_type.h"

namespace argtrace::dwarf {

/// Whether a parameter is what its function returns.
bool is_go_result(Dwarf_Die &parameter);

/// Whether the type of a parameter is a string, or one that has been defined as such.
bool is_go_text(Dwarf_Die &parameter);

/// What a value of a type that has been made consists of, without registers.
GoValue go_value(const MadeTypes &types, std::uint32_t type);

/// The registers that DWARF says a parameter is in at that address, one after the other; nothing if it does not, or not for this address alone.
std::optional<std::vector<unsigned>> go_entry_registers(Dwarf_Die &parameter, Dwarf_Addr entry);

} // namespace argtrace::dwarf
