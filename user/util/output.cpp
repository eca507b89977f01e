// SPDX-License-Identifier: GPL-2.0-only
#include "util/output.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

bool Output::flush() {
    if (!write_out(buffer_))
        return false;
    buffer_.clear();
    return true;
}

bool Output::write(std::string_view text) {
    return flush() && write_out(text);
}

bool Output::write_out(std::string_view rest) const {
    while (!rest.empty()) {
        ssize_t written = ::write(fd_, rest.data(), rest.size());
        if (written >= 0) {
            rest.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EPIPE) {
            return false;
        } else if (errno == EAGAIN) {
            pollfd writable{fd_, POLLOUT, 0};
            ::poll(&writable, 1, -1);
        } else if (errno != EINTR) {
            throw Error(fmt::format("cannot write the output: {}", std::strerror(errno)));
        }
    }
    return true;
}

bool Output::abandoned() const {
    pollfd state{fd_, 0, 0};
    return ::poll(&state, 1, 0) > 0 && (state.revents & POLLERR);
}

} // namespace argtrace
