// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

namespace argtrace {

/// A type of Go's as Go writes it, of its name as C has it: "*[4]main.T" of "struct main.T (*)[4]".
std::string go_type_name(std::string_view type);

} // namespace argtrace
