// SPDX-License-Identifier: GPL-2.0-only
#include "lang/glob_pattern.h"

#include <string>

namespace argtrace::lang {

TextPattern simplest_pattern(std::string_view glob) {
    std::string_view rest = glob;
    bool open_front = false, open_back = false;
    while (rest.starts_with('*')) {
        open_front = true;
        rest.remove_prefix(1);
    }
    std::string text;
    for (std::size_t i = 0; i < rest.size(); i++) {
        const char c = rest[i];
        if (c == '?' || c == '[')
            return {ARGTRACE_MATCH_GLOB, std::string(glob)};
        if (c == '*') {
            if (rest.find_first_not_of('*', i) != rest.npos)
                return {ARGTRACE_MATCH_GLOB, std::string(glob)};
            open_back = true;
            break;
        }
        if (c == '\\' && ++i == rest.size())
            return {ARGTRACE_MATCH_GLOB, std::string(glob)};
        text += rest[i];
    }
    if (text.empty() && open_front) // "*": all begin with nothing
        return {ARGTRACE_MATCH_PREFIX, ""};
    if (open_front)
        return {open_back ? ARGTRACE_MATCH_CONTAINS : ARGTRACE_MATCH_SUFFIX, std::move(text)};
    return {open_back ? ARGTRACE_MATCH_PREFIX : ARGTRACE_MATCH_WHOLE, std::move(text)};
}

} // namespace argtrace::lang
