// SPDX-License-Identifier: GPL-2.0-only
#include "util/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "util/nanoseconds.h"

namespace argtrace {

namespace {

constexpr std::uint64_t period_ns = nanoseconds_per_second;

} // namespace

Progress::Progress(int fd, std::uint64_t start)
    : fd_(fd), enabled_(::isatty(fd)), next_(start + period_ns) {}

void Progress::tell(std::uint64_t now, std::string_view text) {
    next_ = now + period_ns;
    shown_ = true;
    write(fmt::format("\rargtrace: {}\033[K", text));
}

void Progress::clear() {
    if (shown_)
        write("\r\033[K");
    shown_ = false;
}

void Progress::write(std::string_view text) const {
    // A terminal that has gone is no reason to stop working.
    [[maybe_unused]] const ssize_t written = ::write(fd_, text.data(), text.size());
}

} // namespace argtrace
