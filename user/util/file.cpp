// SPDX-License-Identifier: GPL-2.0-only
#include "util/file.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "util/fd.h"

namespace argtrace {

Text read_file(const std::string &path) {
    const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0)
        throw std::system_error(errno, std::generic_category(), path);

    // Files of /proc and tracefs do not tell their size.
    Text text(1 << 20);
    std::size_t used = 0;
    for (;;) {
        if (used == text.size())
            text.resize(2 * text.size());
        const ssize_t got = read(file.get(), text.data() + used, text.size() - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            throw std::system_error(errno, std::generic_category(), path);
        if (got == 0)
            break;
        used += static_cast<std::size_t>(got);
    }
    text.resize(used);
    return text;
}

} // namespace argtrace
