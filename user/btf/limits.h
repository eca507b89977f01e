// SPDX-License-Identifier: GPL-2.0-only
#pragma once

namespace argtrace {

/// So many types lie behind each other at most; broken BTF may be circular.
inline constexpr int MAX_DEPTH = 64;

} // namespace argtrace
