// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "btf/prototype.h"

struct btf;

namespace argtrace {

/// What a parameter or result of that type is to the machine. Type 0 is void.
Shape shape_of(const btf *types, std::uint32_t type);

} // namespace argtrace
