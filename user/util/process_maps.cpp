// SPDX-License-Identifier: GPL-2.0-only
#include "util/process_maps.h"

#include <cstdio>
#include <optional>
#include <system_error>

#include <sys/sysmacros.h>

#include <fmt/format.h>

#include "util/file.h"

namespace argtrace {

namespace {

/// "7f00-7f10 r-xp 00001000 fe:01 1234   /usr/lib/libc.so.6"
std::optional<CodeMapping> parse_code_mapping(const std::string &line) {
    unsigned long begin, end, inode;
    unsigned major, minor;
    char flags[5];
    int path = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %*x %x:%x %lu %n", &begin, &end, flags, &major, &minor, &inode, &path) < 6 || flags[2] != 'x')
        return std::nullopt;
    return CodeMapping{begin, end, ::makedev(major, minor), inode, path > 0 ? line.substr(static_cast<std::size_t>(path)) : ""};
}

} // namespace

void for_each_code_mapping(std::string_view process, const std::function<void(const CodeMapping &)> &take) {
    try {
        read_lines(fmt::format("/proc/{}/maps", process), [&take](std::string_view text) {
            if (const auto mapping = parse_code_mapping(std::string(text)))
                take(*mapping);
        });
    } catch (const std::system_error &) { // it has ended
    }
}

} // namespace argtrace
