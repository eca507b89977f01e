// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

namespace argtrace {

/// Where execvp() would find a program: itself if it is a path, else in a folder of PATH. Empty: nowhere.
std::string find_program(std::string_view name);

} // namespace argtrace
