// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/uninitialized.h"

namespace argtrace {

/// Text that keeps its place in memory when it is moved, so that views into it stay valid
/// (those into a short std::string would not).
using Text = std::vector<char, UninitializedAllocator<char>>;

inline std::string_view view(const Text &text) {
    return {text.data(), text.size()};
}

/// Reads a whole file, of /proc too. Throws std::system_error with the errno.
Text read_file(const std::string &path);

/// The number that a file begins with. Nothing if it cannot be read, or begins with none.
std::optional<std::uint64_t> number_in_file(const std::string &path);

/// Calls `visit` with each line of a file, without its newline, and keeps no more of it than that
/// line. Throws std::system_error with the errno.
void read_lines(const std::string &path, const std::function<void(std::string_view)> &visit);

/// Calls `visit` with the names in a folder that are numbers: processes in /proc, descriptors. There are none in one that cannot be read.
void for_each_number(const std::string &folder, const std::function<void(std::uint32_t)> &visit);

/// Lets this process have as many files open as it may.
void raise_file_limit();

} // namespace argtrace
