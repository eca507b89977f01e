// SPDX-License-Identifier: GPL-2.0-only
#include "model/key_room.h"

#include "uapi/argtrace_map.h"

namespace argtrace {

std::vector<std::uint32_t> share_key_room(std::span<const std::uint32_t> lengths) {
    constexpr std::uint32_t word = sizeof(std::uint64_t);
    if (lengths.size() > ARGTRACE_MAP_KEY_WORDS_MAX)
        return {};
    std::vector<std::uint32_t> room;
    for (const std::uint32_t length : lengths)
        room.push_back(length > 0 ? word : 0);
    std::size_t left = ARGTRACE_MAP_KEY_WORDS_MAX - lengths.size();
    for (bool given = true; given && left > 0;) {
        given = false;
        for (std::size_t i = 0; i < lengths.size() && left > 0; ++i) {
            if (room[i] >= lengths[i])
                continue;
            room[i] += word;
            --left;
            given = true;
        }
    }
    return room;
}

} // namespace argtrace
