// SPDX-License-Identifier: GPL-2.0-only
#include "util/utf8.h"

namespace argtrace {

std::size_t utf8_length(std::string_view text) {
    auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    auto in = [](unsigned value, unsigned low, unsigned high) {
        return value >= low && value <= high;
    };
    if (text.empty())
        return 0;
    unsigned first = byte(0);
    if (first < 0x80)
        return 1;
    std::size_t length = in(first, 0xc2, 0xdf)   ? 2
                         : in(first, 0xe0, 0xef) ? 3
                         : in(first, 0xf0, 0xf4) ? 4
                                                 : 0;
    if (length == 0 || text.size() < length)
        return 0;

    // The second byte decides about overlong forms, surrogates and values above U+10FFFF.
    unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (!in(byte(1), low, high))
        return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if (!in(byte(i), 0x80, 0xbf))
            return 0;
    }
    return length;
}

void append_utf8(std::string &text, std::uint32_t character) {
    if (character > 0x10ffff || (character >= 0xd800 && character <= 0xdfff))
        character = 0xfffd;
    // The first byte says with its upper bits how many follow, which have six bits each.
    const int following = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    static constexpr unsigned first[] = {0x00, 0xc0, 0xe0, 0xf0};
    text += static_cast<char>(first[following] | character >> 6 * following);
    for (int left = following - 1; left >= 0; left--)
        text += static_cast<char>(0x80 | (character >> 6 * left & 0x3f));
}

} // namespace argtrace
