// SPDX-License-Identifier: GPL-2.0-only
#include "util/output.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

bool Output::flush() {
    std::string_view rest = buffer_;
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
    buffer_.clear();
    return true;
}

bool Output::abandoned() const {
    pollfd state{fd_, 0, 0};
    return ::poll(&state, 1, 0) > 0 && (state.revents & POLLERR);
}

} // namespace argtrace
