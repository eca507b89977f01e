// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string_view>

namespace argtrace {

/// In the BTF that is made of a program's debug information, the tag of a pointer that is a reference there: of C++, or of Rust, or of a
/// class that is passed by its address. It is indexed as what it refers to.
inline constexpr std::string_view reference_tag = "reference";

} // namespace argtrace
