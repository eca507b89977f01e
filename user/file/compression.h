// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "util/uninitialized.h"

namespace argtrace {

/// What zstd takes; 0 would be its default.
inline constexpr int compression_level_default = 1;
inline constexpr int compression_level_max = 19;

/// Makes frames, each on its own.
class Compressor {
public:
    explicit Compressor(int level);
    Compressor(Compressor &&other) noexcept;
    Compressor &operator=(Compressor &&) = delete;
    ~Compressor();

    /// Appends a frame with `data` in it to `out`. Throws Error when there is no memory.
    void append(std::vector<std::byte> &out, std::span<const std::byte> data);

private:
    void *context_;
    int level_;
};

/// What the one frame in `data` holds, if that is whole and no larger than `limit`.
std::optional<RawBytes> decompress(std::span<const std::byte> data, std::size_t limit);

} // namespace argtrace
