// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <string_view>

namespace argtrace {

/// Calls `visit` with each line of `text`, without its newline.
template<typename Visit>
void for_each_line(std::string_view text, Visit visit) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        visit(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
}

/// Takes the next word off `line`; words stand between spaces and tabs. Empty at its end.
inline std::string_view next_word(std::string_view &line) {
    // Not find_first_of(), which asks memchr() for each character: the kernel has 200,000 symbols.
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    const auto begin = std::find_if_not(line.begin(), line.end(), is_blank);
    const auto end = std::find_if(begin, line.end(), is_blank);
    const std::string_view word(begin, end);
    line = {end, line.end()};
    return word;
}

/// Without the blanks at both ends.
inline std::string_view without_blanks(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == text.npos)
        return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// Calls `visit` with each part of a list, without the blanks around it. An empty list has one part, which is empty.
template<typename Visit>
void for_each_part(std::string_view list, char separator, Visit visit) {
    for (;;) {
        const std::size_t end = list.find(separator);
        visit(without_blanks(list.substr(0, end)));
        if (end == list.npos)
            return;
        list.remove_prefix(end + 1);
    }
}

/// "ext4" of "[ext4]"; empty if `word` does not stand in brackets.
inline std::string_view bracketed(std::string_view word) {
    if (word.size() < 2 || word.front() != '[' || word.back() != ']')
        return {};
    return word.substr(1, word.size() - 2);
}

} // namespace argtrace
