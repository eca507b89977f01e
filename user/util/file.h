// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace argtrace {

/// Text that keeps its place in memory when it is moved, so that views into it stay valid
/// (those into a short std::string would not).
using Text = std::vector<char>;

inline std::string_view view(const Text &text) {
    return {text.data(), text.size()};
}

/// Reads a whole file, of /proc too. Throws std::system_error with the errno.
Text read_file(const std::string &path);

} // namespace argtrace
