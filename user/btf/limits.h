// SPDX-License-Identifier: GPL-2.0-only
#pragma once

namespace argtrace {

/// So many types lie behind each other at most; broken BTF may be circular.
inline constexpr int depth_max = 64;

} // namespace argtrace
