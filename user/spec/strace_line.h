// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <span>
#include <string>
#include <vector>

namespace argtrace {

/// The words behind `argtrace` that do what strace does with these. Options that change how strace prints are left out.
std::vector<std::string> strace_line(std::span<const std::string> words);

} // namespace argtrace
