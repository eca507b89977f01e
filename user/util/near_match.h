// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace argtrace {

/// How many characters must be inserted, deleted, replaced or swapped with their neighbour
/// to make `b` of `a`; any number above `limit` if more than `limit`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// The candidate that `word` was most likely meant to be; empty if none is near. Of several
/// equally near ones it is that with the longest common beginning, then the first.
std::string_view near_match(std::string_view word, std::span<const std::string_view> candidates);

} // namespace argtrace
