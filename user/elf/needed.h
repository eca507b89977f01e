// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <vector>

#include "elf/object.h"

namespace argtrace::elf {

/// The libraries that the dynamic linker loads with an object, as it names them (DT_NEEDED): "libc.so.6". Those that these need are not
/// among them.
std::vector<std::string> needed_libraries(const Object &object);

/// The dynamic linker that a program names (PT_INTERP); empty: it is linked statically, or no program.
std::string interpreter(const Object &object);

} // namespace argtrace::elf
