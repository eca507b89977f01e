// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace argtrace {

/// Makes a gzip file of bytes that come piece by piece.
class GzipWriter {
public:
    GzipWriter();
    ~GzipWriter();

    void add(std::string_view bytes);

    /// The file. Nothing can be added any more.
    std::string finish();

private:
    struct Stream;
    void deflate(std::string_view bytes, int flush);

    std::unique_ptr<Stream> stream_;
    std::string packed_;
};

} // namespace argtrace
