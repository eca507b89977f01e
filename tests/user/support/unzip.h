// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include <gtest/gtest.h>
#include <zlib.h>

namespace argtrace::test {

/// What gzip has made of at most so many bytes.
inline std::string unzip(const std::string &zipped, std::size_t most = 64 << 20) {
    z_stream stream{};
    EXPECT_EQ(::inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
    std::string plain(most, '\0');
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(zipped.data()));
    stream.avail_in = static_cast<uInt>(zipped.size());
    stream.next_out = reinterpret_cast<Bytef *>(plain.data());
    stream.avail_out = static_cast<uInt>(plain.size());
    EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END) << "one member, its checksum right";
    EXPECT_EQ(stream.avail_in, 0u);
    plain.resize(stream.total_out);
    ::inflateEnd(&stream);
    return plain;
}

} // namespace argtrace::test
