// SPDX-License-Identifier: GPL-2.0-only
#pragma once

namespace argtrace {

/// Which stacks of a call are taken.
struct StackChoice {
    bool kernel = false;
    bool user = false; ///< that of the code which has entered the kernel

    bool any() const { return kernel || user; }
    bool both() const { return kernel && user; }

    StackChoice operator|(StackChoice other) const { return {kernel || other.kernel, user || other.user}; }
    bool operator==(const StackChoice &) const = default;
};

inline constexpr StackChoice kernel_stack{true, false};
inline constexpr StackChoice user_stack{false, true};
inline constexpr StackChoice both_stacks{true, true};

} // namespace argtrace
