// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <optional>

namespace argtrace {

/// The width of the terminal `fd` in columns; nothing if `fd` is not a terminal or its width is
/// unknown.
std::optional<std::size_t> terminal_width(int fd);

struct TerminalSize {
    std::size_t columns;
    std::size_t lines;
};

/// Both; nothing, as above.
std::optional<TerminalSize> terminal_size(int fd);

} // namespace argtrace
