// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace argtrace {

/// What somebody may have meant by a name that is unknown: a function, a member ...
struct Suggestion {
    std::vector<std::string_view> names; ///< the likeliest first, at most a few
    std::size_t others = 0;              ///< how many more contain the name
    bool contained = false;              ///< they contain it, and are not just spelt like it
};

/// Suggests the candidates that differ from `word` in case alone, else those that contain it
/// as a whole word ("read" is one in "vfs_read", not in "spread"), else those that contain it at
/// all, else the one that it is a misspelling of. Where candidates are functions, `syscall_prefix` is how those of system calls begin on this
/// kind of machine ("__x64_sys_").
Suggestion suggest(std::string_view word, std::span<const std::string_view> candidates, std::string_view syscall_prefix = {});

/// "; did you mean vfs_read or ksys_read?", or nothing. With `listing` set, `argtrace list` is
/// named as what shows all that contain `word`.
std::string did_you_mean(const Suggestion &suggestion, std::string_view word = {},
                         bool listing = false);

/// The same of a single name; nothing if it is empty.
std::string did_you_mean(std::string_view name);

} // namespace argtrace
