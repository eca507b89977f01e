// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <string>
#include <string_view>

#include "util/output.h"
#include "util/worker_pool.h"

namespace argtrace {

/// The file that an export goes to, compressed if wanted.
class ExportFile {
public:
    enum class Compression { none, gzip };

    /// The descriptor and the workers, who compress, stay the caller's. `name` is for the user.
    ExportFile(int fd, std::string name, WorkerPool &workers,
               Compression compression = Compression::none);
    ~ExportFile();

    /// Throws Error when it cannot be written.
    void write(std::string_view bytes);

    /// Writes all that there is. Nothing may be written behind it.
    void finish();

    /// Bytes in the file by now.
    std::uint64_t size() const { return size_; }

private:
    struct Block {
        std::string bytes;      // deflated
        std::uint64_t size = 0; // before that
        unsigned long crc = 0;
    };

    void submit();
    void take_first();
    void put(std::string_view bytes);

    Output output_;
    std::string name_;
    WorkerPool &workers_;
    Compression compression_;
    std::string block_; // not compressed yet
    std::deque<std::future<Block>> blocks_;
    unsigned long crc_ = 0;
    std::uint64_t plain_size_ = 0;
    std::uint64_t size_ = 0;
};

} // namespace argtrace
