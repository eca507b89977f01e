// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/functions.h"

namespace argtrace {

/// Settles who follows the calls of functions until they return: the trampoline, or where that is impossible the kernel.
class Followers {
public:
    /// The request stays the caller's.
    explicit Followers(const Request &request) : request_(request) {}

    /// Settles it for a function that records what it returns. Why nobody can; empty: somebody does.
    std::string choose(Function &function);

    /// Where the kernel would have to follow many of those that are found, which nobody has asked for, they are left out. Throws Error
    /// where more are asked for than it follows. Where it would end programs that throw exceptions, that is told.
    void limit(Found &found) const;

private:
    std::string choose_user_function(Function &function);
    std::string why_no_stack(const std::string &why, std::uint32_t reason) const;
    std::string why_unfollowed_by_us(const Function &function);
    std::uint32_t why_by_kernel(const Function &function, bool unfollowed);
    std::uint32_t who_comes_first(const Function &function);

    const Request &request_;
    std::optional<EnabledFunctions> enabled_; // once it has been asked for
    std::vector<std::string> ended_by_exceptions_; // functions that the kernel's uretprobe follows although exceptions may pass through them
};

} // namespace argtrace
