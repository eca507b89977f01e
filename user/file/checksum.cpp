// SPDX-License-Identifier: GPL-2.0-only
#define XXH_STATIC_LINKING_ONLY // the size of its state
#include <xxhash.h>
#ifdef __x86_64__
// Chooses the widest vectors that the processor has: halves what recording takes for it.
#include <xxh_x86dispatch.h>
#endif

#include "file/format.h"

namespace argtrace {

std::uint32_t file_checksum(std::span<const std::byte> first, std::span<const std::byte> rest) {
    if (rest.empty())
        return static_cast<std::uint32_t>(XXH3_64bits(first.data(), first.size()));
    alignas(64) XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, first.data(), first.size());
    XXH3_64bits_update(&state, rest.data(), rest.size());
    return static_cast<std::uint32_t>(XXH3_64bits_digest(&state));
}

std::uint32_t header_checksum(const ChunkHeader &header) {
    return file_checksum(
        std::as_bytes(std::span(&header, 1)).first(offsetof(ChunkHeader, header_sum)));
}

} // namespace argtrace
