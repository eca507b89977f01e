// SPDX-License-Identifier: GPL-2.0-only
#include "elf/demangle.h"
namespace argtrace::elf {
std::string demangle(std::string_view symbol) { return std::string(symbol); }
} // namespace argtrace::elf
