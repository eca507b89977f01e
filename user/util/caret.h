// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace argtrace {

/// The sentence, and below it `text` with a caret under the character that begins at byte `at`
/// (at most text.size(): behind the end).
std::string with_caret(std::string_view text, std::size_t at, std::string_view sentence);

} // namespace argtrace
