// SPDX-License-Identifier: GPL-2.0-only
#include "util/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace argtrace {

std::optional<std::size_t> terminal_width(int fd) {
    winsize size{};
    if (!::isatty(fd) || ::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return std::nullopt;
    return size.ws_col;
}

std::optional<TerminalSize> terminal_size(int fd) {
    winsize size{};
    if (!::isatty(fd) || ::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 ||
        size.ws_row == 0)
        return std::nullopt;
    return TerminalSize{size.ws_col, size.ws_row};
}

} // namespace argtrace
