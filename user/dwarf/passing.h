// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "btf/prototype.h"
#include "dwarf/made_type.h"

namespace argtrace::dwarf {

/// Sets what the shape of a value of that type has of classes. Nothing changes for integers and pointers, and for what is
/// not known well enough.
void set_classes(const MadeTypes &types, std::uint32_t type, Shape &shape);

} // namespace argtrace::dwarf
