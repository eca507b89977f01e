// SPDX-License-Identifier: GPL-2.0-only
#include "util/utf8_text.h"

#include <algorithm>

#include "util/utf8.h"

namespace argtrace {

std::string_view valid_utf8(std::string_view text) {
    static thread_local std::string valid;
    if (std::all_of(text.begin(), text.end(), [](char one) { return (one & 0x80) == 0; }))
        return text;
    valid.clear();
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0)
            valid += "\xef\xbf\xbd";
        else
            valid += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return valid;
}

} // namespace argtrace
