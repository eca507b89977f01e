// SPDX-License-Identifier: GPL-2.0-only
#include "export/export_file.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "util/error.h"

namespace argtrace {

namespace {

constexpr std::size_t block_size = 1 << 20;
constexpr std::size_t blocks_max = 16; // that wait, with any number of workers
constexpr int gzip_level = 4; // a third larger than 6, and twice as fast

/// Deflated so that another block, or the last one, can follow: at a byte, with no reference to
/// what came before.
std::string deflate_block(const std::string &plain) {
    z_stream stream{};
    if (::deflateInit2(&stream, gzip_level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc();
    constexpr std::size_t marker_max = 16; // the empty block that a flush ends in
    std::string bytes(::deflateBound(&stream, plain.size()) + marker_max, '\0');
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(plain.data()));
    stream.avail_in = static_cast<uInt>(plain.size());
    stream.next_out = reinterpret_cast<Bytef *>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    ::deflate(&stream, Z_FULL_FLUSH);
    bytes.resize(stream.total_out);
    ::deflateEnd(&stream);
    return bytes;
}

} // namespace

ExportFile::ExportFile(int fd, std::string name, WorkerPool &workers, Compression compression)
    : output_(fd), name_(std::move(name)), workers_(workers), compression_(compression) {
    if (compression_ == Compression::gzip) {
        crc_ = ::crc32(0, nullptr, 0);
        put(std::string_view("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10)); // no name, no time, any system
    }
}

ExportFile::~ExportFile() {
    for (std::future<Block> &block : blocks_)
        block.wait();
}

void ExportFile::put(std::string_view bytes) {
    size_ += bytes.size();
    if (!output_.write(bytes))
        throw Error(fmt::format("{}: nobody reads it any more", name_));
}

void ExportFile::write(std::string_view bytes) {
    if (compression_ == Compression::none)
        return put(bytes);
    while (!bytes.empty()) {
        const std::size_t part = std::min(bytes.size(), block_size - block_.size());
        block_ += bytes.substr(0, part);
        bytes.remove_prefix(part);
        if (block_.size() == block_size)
            submit();
    }
}

void ExportFile::submit() {
    if (block_.empty())
        return;
    auto plain = std::make_shared<std::string>(std::exchange(block_, {}));
    blocks_.push_back(workers_.submit([plain](unsigned) {
        Block block;
        block.size = plain->size();
        block.crc = ::crc32(::crc32(0, nullptr, 0), reinterpret_cast<const Bytef *>(plain->data()),
                            static_cast<uInt>(plain->size()));
        block.bytes = deflate_block(*plain);
        return block;
    }));
    if (blocks_.size() > std::min(2 * std::size_t{workers_.size()}, blocks_max))
        take_first();
}

void ExportFile::take_first() {
    const Block block = blocks_.front().get();
    blocks_.pop_front();
    crc_ = ::crc32_combine(crc_, block.crc, static_cast<z_off_t>(block.size));
    plain_size_ += block.size;
    put(block.bytes);
}

void ExportFile::finish() {
    if (compression_ == Compression::gzip) {
        submit();
        while (!blocks_.empty())
            take_first();
        const std::uint32_t tail[2] = {static_cast<std::uint32_t>(crc_),
                                       static_cast<std::uint32_t>(plain_size_)};
        put(std::string_view("\x03\0", 2)); // the last block, which is empty
        put({reinterpret_cast<const char *>(tail), sizeof(tail)});
    }
    if (!output_.flush())
        throw Error(fmt::format("{}: nobody reads it any more", name_));
}

} // namespace argtrace
