// SPDX-License-Identifier: GPL-2.0-only
#include "util/gzip.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include <zlib.h>

#include "util/error.h"

namespace argtrace {

struct GzipWriter::Stream {
    z_stream zlib{};

    Stream() {
        constexpr int window_bits = 15, as_gzip = 16, memory_level = 8;
        if (::deflateInit2(&zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits + as_gzip, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
            throw Error("zlib: out of memory");
    }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    ~Stream() { ::deflateEnd(&zlib); }
};

GzipWriter::GzipWriter() : stream_(std::make_unique<Stream>()) {}
GzipWriter::~GzipWriter() = default;

void GzipWriter::deflate(std::string_view bytes, int flush) {
    constexpr std::size_t input_max = std::numeric_limits<uInt>::max();
    z_stream &zlib = stream_->zlib;
    std::array<char, 1 << 14> room;
    do {
        if (zlib.avail_in == 0) {
            zlib.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
            zlib.avail_in = static_cast<uInt>(std::min(bytes.size(), input_max));
            bytes.remove_prefix(zlib.avail_in);
        }
        zlib.next_out = reinterpret_cast<Bytef *>(room.data());
        zlib.avail_out = room.size();
        ::deflate(&zlib, bytes.empty() ? flush : Z_NO_FLUSH);
        packed_.append(room.data(), room.size() - zlib.avail_out);
    } while (!bytes.empty() || zlib.avail_in > 0 || zlib.avail_out == 0);
}

void GzipWriter::add(std::string_view bytes) {
    if (!bytes.empty())
        deflate(bytes, Z_NO_FLUSH);
}

std::string GzipWriter::finish() {
    deflate({}, Z_FINISH);
    return std::move(packed_);
}

} // namespace argtrace
