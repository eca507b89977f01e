// SPDX-License-Identifier: GPL-2.0-only
#include "util/program_path.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace argtrace {

std::string find_program(std::string_view name) {
    if (name.find('/') != name.npos)
        return std::string(name);
    const char *path = std::getenv("PATH");
    std::string_view rest = path ? path : "/bin:/usr/bin";
    for (bool more = true; more;) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        const std::filesystem::path file = std::filesystem::path(end > 0 ? rest.substr(0, end) : ".") / name;
        std::error_code error;
        if (std::filesystem::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0)
            return file;
        more = end < rest.size();
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {};
}

} // namespace argtrace
