// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <optional>

namespace argtrace {

/// The columns of the terminal that `fd` is; nothing when it is none, or does not say.
std::optional<std::size_t> terminal_width(int fd);

} // namespace argtrace
