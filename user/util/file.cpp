// SPDX-License-Identifier: GPL-2.0-only
#include "util/file.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <span>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util/fd.h"
#include "util/lines.h"

namespace argtrace {

namespace {

Fd open_file(const std::string &path) {
    Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0)
        throw std::system_error(errno, std::generic_category(), path);
    return file;
}

/// How much has been read into `room`; 0 at the end.
std::size_t read_some(const Fd &file, std::span<char> room, const std::string &path) {
    for (;;) {
        const ssize_t got = read(file.get(), room.data(), room.size());
        if (got >= 0)
            return static_cast<std::size_t>(got);
        if (errno != EINTR)
            throw std::system_error(errno, std::generic_category(), path);
    }
}

} // namespace

Text read_file(const std::string &path) {
    const Fd file = open_file(path);
    // Files of /proc and tracefs do not tell their size.
    Text text(1 << 20);
    std::size_t used = 0;
    while (const std::size_t got = read_some(file, std::span(text).subspan(used), path)) {
        used += got;
        if (used == text.size())
            text.resize(2 * text.size());
    }
    text.resize(used);
    return text;
}

std::optional<std::uint64_t> number_in_file(const std::string &path) {
    try {
        const Text text = read_file(path);
        std::uint64_t number = 0;
        if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc())
            return number;
    } catch (const std::system_error &) {
    }
    return std::nullopt;
}

void read_lines(const std::string &path, const std::function<void(std::string_view)> &visit) {
    const Fd file = open_file(path);
    Text text(64 << 10);
    std::size_t used = 0; // of it: the beginning of a line
    while (const std::size_t got = read_some(file, std::span(text).subspan(used), path)) {
        const std::string_view read(text.data(), used + got);
        const std::size_t lines = read.rfind('\n') + 1; // npos + 1 is 0
        for_each_line(read.substr(0, lines), visit);
        used = read.size() - lines;
        std::memmove(text.data(), text.data() + lines, used);
        if (used == text.size())
            text.resize(2 * text.size());
    }
    if (used > 0)
        visit({text.data(), used});
}

void for_each_number(const std::string &folder, const std::function<void(std::uint32_t)> &visit) {
    const std::unique_ptr<DIR, int (*)(DIR *)> open(::opendir(folder.c_str()), ::closedir);
    while (const dirent *entry = open ? ::readdir(open.get()) : nullptr) {
        const std::string_view name = entry->d_name;
        std::uint32_t number = 0;
        const auto [rest, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (problem == std::errc{} && rest == name.data() + name.size())
            visit(number);
    }
}

void raise_file_limit() {
    rlimit limit;
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

} // namespace argtrace
