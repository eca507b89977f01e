// SPDX-License-Identifier: GPL-2.0-only
#include "util/caret.h"

#include <algorithm>

#include <fmt/format.h>

#include "util/utf8.h"

namespace argtrace {

std::string with_caret(std::string_view text, std::size_t at, std::string_view sentence) {
    // Under a tab a tab, under one character one blank.
    std::string below;
    std::string_view before = text.substr(0, at);
    while (!before.empty()) {
        below += before.front() == '\t' ? '\t' : ' ';
        before.remove_prefix(std::max<std::size_t>(utf8_length(before), 1));
    }
    return fmt::format("{}\n  {}\n  {}^", sentence, text, below);
}

} // namespace argtrace
