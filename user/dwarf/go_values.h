// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <elfutils/libdw.h>

#include "btf/prototype.h"
#include "btf/go_kind.h"
#include "dwarf/made_type.h"

namespace argtrace::dwarf {

/// Whether a parameter is what its function returns.
bool is_go_result(Dwarf_Die &parameter);

/// What a type is to Go, by its own DIE. One that only has another name for it says nothing.
GoKind go_kind(Dwarf_Die &type);

/// Whether a type is that of functions, whose values are pointers to what has the function's address first.
bool is_go_function(Dwarf_Die &type);

/// Whether a member of a struct is embedded.
bool is_go_embedded(Dwarf_Die &member);

/// Whether a type is only the name that a generic function has for another, which its instances have in common.
bool is_go_type_parameter(Dwarf_Die &type);

/// What a value of a type that has been made consists of, without registers.
GoValue go_value(const MadeTypes &types, std::uint32_t type);

/// Where DWARF has a parameter in the frame of its caller, in bytes above the stack pointer at the first instruction; nothing if it does not say so.
std::optional<std::uint32_t> go_stack_place(Dwarf_Die &parameter, Dwarf_Addr entry, std::int64_t frame_above_stack);

/// The registers that DWARF says a parameter is in at that address, one after the other; nothing if it does not, or not for this address alone.
std::optional<std::vector<unsigned>> go_entry_registers(Dwarf_Die &parameter, Dwarf_Addr entry);

} // namespace argtrace::dwarf
