// SPDX-License-Identifier: GPL-2.0-only
#include "report/recording.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/writer.h"
#include "util/error.h"

namespace argtrace {

Fd open_recording(const std::string &path) {
    if (path == "-") {
        if (::isatty(STDIN_FILENO))
            throw Error("standard input is a terminal: name a file, or let `argtrace record -o -` "
                        "write here");
        return Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    }
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file && errno == ENOENT && path == default_trace_file)
        throw Error(fmt::format("{}: there is none: make one with `argtrace record FUNC`, or name "
                                "another file",
                                path));
    if (!file)
        throw Error(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
    return file;
}

std::optional<std::uint64_t> size_of(const Fd &file) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return std::nullopt;
    return static_cast<std::uint64_t>(status.st_size);
}

unsigned reading_threads(unsigned jobs) {
    return jobs ? jobs : std::max(std::thread::hardware_concurrency(), 1u);
}

} // namespace argtrace
