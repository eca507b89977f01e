// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "util/utf8.h"

namespace argtrace {

/// Appends text that others chose, the name of a task for instance, so that it neither ends a line nor moves the cursor: control
/// characters and bytes that are no UTF-8 are written as in C, "\x0a". Out is std::string, or what has its += and push_back().
template<typename Out>
void write_visible(Out &out, std::string_view text) {
    const auto is_plain = [](char character) { return character >= ' ' && character <= '~'; };
    while (!text.empty()) {
        // Most of what there is, and all at once.
        const auto plain = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
        if (plain > 0) {
            out += text.substr(0, plain);
            text.remove_prefix(plain);
            continue;
        }
        std::size_t length = utf8_length(text);
        const auto first = static_cast<unsigned char>(text[0]);
        const bool control = first < 0x20 || first == 0x7f ||
                             (first == 0xc2 && length == 2 && static_cast<unsigned char>(text[1]) < 0xa0);
        if (length == 0 || control) {
            length = std::max<std::size_t>(length, 1);
            for (unsigned char byte : text.substr(0, length))
                fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
}

inline std::string visible_text(std::string_view text) {
    std::string shown;
    write_visible(shown, text);
    return shown;
}

} // namespace argtrace
