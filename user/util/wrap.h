// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace argtrace {

/// Breaks lines between words so that none is longer than `width`, unless a word is. Every line but
/// the first begins with `indent` blanks. Lines of `text` that are indented stay as they are.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0);

} // namespace argtrace
