// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace argtrace {

/// How the words of a map's key are shared out. `lengths` has the bytes that each part of it is at most
/// if it is text, and 0 for a number, which takes one word. The result has the bytes of each text, a
/// multiple of 8, and 0 for numbers; it is empty if there are more parts than words.
///
/// Texts get room in turn, a word at a time, so that one that is short leaves more to the others.
std::vector<std::uint32_t> share_key_room(std::span<const std::uint32_t> lengths);

} // namespace argtrace
