// SPDX-License-Identifier: GPL-2.0-only
#include "util/unpack.h"

#include <cstdint>
#include <memory>
#include <string_view>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "util/error.h"

namespace argtrace {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t unpacked_max = 1u << 30;

[[noreturn]] void damaged() {
    throw Error("is damaged: it cannot be unpacked");
}

/// Room for more behind what has been unpacked.
void grow(Text &out) {
    if (out.size() >= unpacked_max)
        throw Error("is too large when unpacked");
    out.resize(out.size() * 2);
}

Text first_room(const Text &packed) {
    return Text(4 * packed.size() + 4096);
}

Text unpack_xz(const Text &packed) {
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, unpacked_max, LZMA_CONCATENATED) != LZMA_OK)
        damaged();
    const std::unique_ptr<lzma_stream, void (*)(lzma_stream *)> end(&stream, lzma_end);
    Text out = first_room(packed);
    stream.next_in = reinterpret_cast<const std::uint8_t *>(packed.data());
    stream.avail_in = packed.size();
    for (;;) {
        stream.next_out = reinterpret_cast<std::uint8_t *>(out.data()) + stream.total_out;
        stream.avail_out = out.size() - stream.total_out;
        const lzma_ret result = lzma_code(&stream, LZMA_FINISH);
        if (result == LZMA_STREAM_END)
            break;
        if (result != LZMA_OK)
            damaged();
        if (stream.avail_out == 0)
            grow(out);
    }
    out.resize(stream.total_out);
    return out;
}

Text unpack_gzip(const Text &packed) {
    constexpr int any_header = 15 + 32;
    z_stream stream{};
    if (inflateInit2(&stream, any_header) != Z_OK)
        damaged();
    const std::unique_ptr<z_stream, int (*)(z_stream *)> end(&stream, inflateEnd);
    Text out = first_room(packed);
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    for (;;) {
        stream.next_out = reinterpret_cast<Bytef *>(out.data()) + stream.total_out;
        stream.avail_out = static_cast<uInt>(out.size() - stream.total_out);
        const int result = inflate(&stream, Z_NO_FLUSH);
        if (result == Z_STREAM_END)
            break;
        if (result != Z_OK || (stream.avail_in == 0 && stream.avail_out > 0))
            damaged();
        if (stream.avail_out == 0)
            grow(out);
    }
    out.resize(stream.total_out);
    return out;
}

Text unpack_zstd(const Text &packed) {
    const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream *)> stream(
        ZSTD_createDStream(), ZSTD_freeDStream);
    if (!stream)
        damaged();
    Text out = first_room(packed);
    ZSTD_inBuffer from{packed.data(), packed.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    for (;;) {
        const std::size_t left = ZSTD_decompressStream(stream.get(), &to, &from);
        if (ZSTD_isError(left))
            damaged();
        if (left == 0 && from.pos == from.size)
            break;
        if (to.pos == to.size) {
            grow(out);
            to.dst = out.data();
            to.size = out.size();
        } else if (from.pos == from.size) {
            damaged();
        }
    }
    out.resize(to.pos);
    return out;
}

} // namespace

Text unpack(Text content) {
    const std::string_view bytes = view(content);
    if (bytes.starts_with("\xfd"
                          "7zXZ\0"sv))
        return unpack_xz(content);
    if (bytes.starts_with("\x1f\x8b"sv))
        return unpack_gzip(content);
    if (bytes.starts_with("\x28\xb5\x2f\xfd"sv))
        return unpack_zstd(content);
    return content;
}

} // namespace argtrace
