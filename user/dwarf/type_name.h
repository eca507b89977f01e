// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

namespace argtrace::dwarf {

/// The name of a type of C++ or Rust that is short enough for a line, and for a probe, which has room for some thousand characters in all:
/// "std::vector<...>" where the arguments of a template make it too long.
std::string short_name(std::string name);

} // namespace argtrace::dwarf
