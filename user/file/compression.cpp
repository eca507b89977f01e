// SPDX-License-Identifier: GPL-2.0-only
#include "file/compression.h"

#include <utility>

#include <fmt/format.h>
#include <zstd.h>

#include "util/error.h"

namespace argtrace {

Compressor::Compressor(int level) : context_(ZSTD_createCCtx()), level_(level) {
    if (!context_)
        throw Error("no memory to compress with");
}

Compressor::Compressor(Compressor &&other) noexcept
    : context_(std::exchange(other.context_, nullptr)), level_(other.level_) {}

Compressor::~Compressor() {
    ZSTD_freeCCtx(static_cast<ZSTD_CCtx *>(context_));
}

void Compressor::append(std::vector<std::byte> &out, std::span<const std::byte> data) {
    const std::size_t before = out.size();
    out.resize(before + ZSTD_compressBound(data.size()));
    const std::size_t size =
        ZSTD_compressCCtx(static_cast<ZSTD_CCtx *>(context_), out.data() + before,
                          out.size() - before, data.data(), data.size(), level_);
    if (ZSTD_isError(size))
        throw Error(fmt::format("cannot compress: {}", ZSTD_getErrorName(size)));
    out.resize(before + size);
}

std::optional<RawBytes> decompress(std::span<const std::byte> data, std::size_t limit) {
    const unsigned long long size = ZSTD_getFrameContentSize(data.data(), data.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > limit)
        return std::nullopt;
    RawBytes out(size);
    if (ZSTD_decompress(out.data(), out.size(), data.data(), data.size()) != size)
        return std::nullopt;
    return out;
}

} // namespace argtrace
