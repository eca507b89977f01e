// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string_view>

namespace argtrace {

/// "ENOENT" for 2, the kernel's own numbers (ERESTARTSYS, EPROBE_DEFER ...) included; empty
/// when no error has that number.
std::string_view errno_name(std::uint32_t number);

} // namespace argtrace
