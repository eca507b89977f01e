// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

namespace argtrace::elf {

/// The name of a function as its language writes it: C++ and Rust (both manglings); any other name
/// is handed back as it is. What compilers append to clones (".cold", ".part.0") stays behind it.
std::string demangle(std::string_view symbol);

} // namespace argtrace::elf
