// SPDX-License-Identifier: GPL-2.0-only
#include "util/gzip.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include <zlib.h>

#include "util/error.h"

namespace argtrace {

std::string gzip(std::string_view bytes) {
    constexpr int window_bits = 15, as_gzip = 16, memory_level = 8;
    constexpr std::size_t step = 1 << 16, input_max = std::numeric_limits<uInt>::max();
    z_stream stream{};
    if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits + as_gzip, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
        throw Error("zlib: out of memory");
    std::string packed;
    int result = Z_OK;
    do {
        if (stream.avail_in == 0) {
            stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
            stream.avail_in = static_cast<uInt>(std::min(bytes.size(), input_max));
            bytes.remove_prefix(stream.avail_in);
        }
        const std::size_t filled = packed.size();
        packed.resize(filled + step);
        stream.next_out = reinterpret_cast<Bytef *>(&packed[filled]);
        stream.avail_out = step;
        result = ::deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
        packed.resize(packed.size() - stream.avail_out);
    } while (result == Z_OK || result == Z_BUF_ERROR);
    ::deflateEnd(&stream);
    return packed;
}

} // namespace argtrace
