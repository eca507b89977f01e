// SPDX-License-Identifier: GPL-2.0-only
#include "util/temporary_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "util/error.h"

namespace argtrace {

std::string folder_for_temporary(const std::string &path) {
    if (path != "-" && !path.starts_with("/dev/") && !path.starts_with("/proc/")) {
        const std::size_t slash = path.rfind('/');
        const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
        if (::access(folder.c_str(), W_OK) == 0)
            return folder;
    }
    const char *chosen = std::getenv("TMPDIR");
    return chosen && *chosen ? chosen : "/var/tmp";
}

Fd open_temporary(const std::string &folder) {
    Fd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!file) { // not every file system has these
        std::string name = folder + "/.argtrace.XXXXXX";
        file = Fd(::mkostemp(name.data(), O_CLOEXEC));
        if (!file)
            throw Error(fmt::format("{}: a temporary file cannot be made there: {}", folder, std::strerror(errno)));
        ::unlink(name.c_str());
    }
    return file;
}

} // namespace argtrace
