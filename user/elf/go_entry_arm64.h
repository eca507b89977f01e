// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "elf/object.h"

namespace argtrace::elf {

/// go_entry() of arm64, of a function with that code and so many bytes.
std::uint32_t go_entry_arm64(const Text &code, std::uint64_t size);

} // namespace argtrace::elf
