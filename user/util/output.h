// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

namespace argtrace {

/// Text on its way to a file descriptor, written in large pieces.
class Output {
public:
    explicit Output(int fd) : fd_(fd) {}

    /// What is appended here is written by the next flush().
    std::string &buffer() { return buffer_; }

    /// Enough has gathered that it is time for flush().
    bool full() const { return buffer_.size() >= flush_size; }

    /// Writes everything. False once nobody reads any more (EPIPE; the caller ignores
    /// SIGPIPE). Throws Error when it cannot be written.
    [[nodiscard]] bool flush();

    /// The same, and then `text`, which is not copied for it.
    [[nodiscard]] bool write(std::string_view text);

    /// The reader at the other end of a pipe has gone, as far as can be told without writing.
    bool abandoned() const;

    int fd() const { return fd_; }

private:
    bool write_out(std::string_view rest) const;

    static constexpr std::size_t flush_size = 64 * 1024;

    int fd_;
    std::string buffer_;
};

} // namespace argtrace
