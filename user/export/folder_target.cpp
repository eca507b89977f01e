// SPDX-License-Identifier: GPL-2.0-only
#include "export/folder_target.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

FolderTarget::FolderTarget(std::string path) : path_(std::move(path)) {
    while (path_.size() > 1 && path_.back() == '/')
        path_.pop_back();
    std::error_code none;
    const bool exists = std::filesystem::exists(std::filesystem::symlink_status(path_, none));
    if (exists &&
        !(std::filesystem::is_directory(path_, none) && std::filesystem::is_empty(path_, none)))
        throw Error(fmt::format("{}: it exists: a folder that is not there yet is needed, or an "
                                "empty one",
                                path_));
    const std::size_t name = path_.rfind('/') + 1; // 0 where there is no slash
    temporary_ = path_.substr(0, name) + "." + path_.substr(name) + ".XXXXXX";
    if (!::mkdtemp(temporary_.data()))
        throw Error(fmt::format("{}: cannot be made: {}", path_, std::strerror(errno)));
}

FolderTarget::~FolderTarget() {
    std::error_code none;
    if (!kept_)
        std::filesystem::remove_all(temporary_, none);
}

void FolderTarget::keep() {
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
        throw Error(fmt::format("{}: cannot be made: {}", path_, std::strerror(errno)));
    kept_ = true;
}

} // namespace argtrace
