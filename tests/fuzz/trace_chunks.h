// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "file/compression.h"
#include "file/format.h"

namespace argtrace::fuzz {

using Bytes = std::vector<std::byte>;

/// A chunk of a trace file with its payload as it was before it was compressed.
struct LooseChunk {
    std::uint32_t type = 0;
    std::uint32_t flags = 0;
    Bytes payload;

    /// How many bytes of the payload are never compressed.
    std::size_t front() const {
        const bool packet = type == static_cast<std::uint32_t>(ChunkType::packet);
        return packet ? std::min(payload.size(), sizeof(PacketPrefix)) : 0;
    }
};

/// The chunks of a file, as far as their lengths can be followed; sums are not looked at, and a
/// payload that cannot be unpacked stays as it is, no longer called compressed.
inline std::vector<LooseChunk> take_apart(std::span<const std::byte> file) {
    constexpr std::size_t limit = 1 << 16; // an input is small
    std::vector<LooseChunk> chunks;
    file = file.subspan(std::min(file.size(), sizeof(FileHeader)));
    ChunkHeader header;
    while (file.size() >= sizeof(header)) {
        std::memcpy(&header, file.data(), sizeof(header));
        file = file.subspan(sizeof(header));
        const auto payload = file.first(std::min<std::uint64_t>(header.length, file.size()));
        file = file.subspan(payload.size());
        LooseChunk &chunk = chunks.emplace_back(
            LooseChunk{header.type, header.flags, Bytes(payload.begin(), payload.end())});
        if (!(header.flags & chunk_zstd))
            continue;
        const std::size_t front = chunk.front();
        if (const auto unpacked = decompress(payload.subspan(front), limit)) {
            chunk.payload.resize(front);
            chunk.payload.insert(chunk.payload.end(), unpacked->begin(), unpacked->end());
        } else {
            chunk.flags &= ~chunk_zstd;
        }
    }
    return chunks;
}

/// The file of these chunks, with lengths, compression and sums as they should be.
inline Bytes put_together(const std::vector<LooseChunk> &chunks) {
    static Compressor compressor(1);
    Bytes file;
    const auto append = [&file](const auto &object) {
        const auto bytes = std::as_bytes(std::span(&object, 1));
        file.insert(file.end(), bytes.begin(), bytes.end());
    };
    append(FileHeader());
    for (const LooseChunk &chunk : chunks) {
        Bytes payload = chunk.payload;
        if (chunk.flags & chunk_zstd) {
            payload.resize(chunk.front());
            compressor.append(payload, std::span(chunk.payload).subspan(chunk.front()));
        }
        ChunkHeader header{};
        header.type = chunk.type;
        header.flags = chunk.flags;
        header.length = payload.size();
        header.payload_sum = file_checksum(payload);
        header.header_sum = header_checksum(header);
        append(header);
        file.insert(file.end(), payload.begin(), payload.end());
    }
    return file;
}

} // namespace argtrace::fuzz
