// SPDX-License-Identifier: GPL-2.0-only
#include "spec/cgroup_condition.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <linux/magic.h>
#include <optional>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

namespace {

constexpr std::uint64_t root_number = 1;
constexpr std::uint64_t levels_max = 256; // more than the kernel lets there be where it is left as it is

bool is_cgroup(const std::string &path) {
    struct statfs system;
    return ::statfs(path.c_str(), &system) == 0 && system.f_type == CGROUP2_SUPER_MAGIC;
}

std::optional<std::uint64_t> number_of(const std::string &path) {
    struct stat folder;
    if (::stat(path.c_str(), &folder) != 0 || !S_ISDIR(folder.st_mode))
        return std::nullopt;
    return folder.st_ino;
}

std::string folder_of(const std::string &path) {
    // The last is where systemd has it beside the older hierarchies.
    for (const char *mount : {"", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/"})
        if (is_cgroup(mount + path))
            return mount + path;
    if (::access(path.c_str(), F_OK) != 0)
        throw Error(fmt::format("--cgroup {}: {}", path, std::strerror(errno)));
    throw Error(fmt::format("--cgroup {}: this is no folder of cgroup2, the unified hierarchy, which `mount -t cgroup2` shows", path));
}

} // namespace

std::string cgroup_condition(const std::string &path) {
    std::string folder = folder_of(path);
    const std::optional<std::uint64_t> number = number_of(folder);
    if (!number)
        throw Error(fmt::format("--cgroup {}: this is a file of a cgroup, whose name is that of the folder", path));
    std::uint64_t level = 0;
    for (; number_of(folder) != root_number; folder += "/..", ++level)
        if (!is_cgroup(folder) || level == levels_max)
            throw Error(fmt::format("--cgroup {}: how deep it lies is not seen in a cgroup namespace or a part of the hierarchy; "
                                    "--if 'cgroup == {}' chooses that cgroup alone",
                                    path, *number));
    const std::string_view own = "task->cgroups->dfl_cgrp";
    return level == 0 ? "1" : fmt::format("{0}->level >= {1} && {0}->ancestors[{1}]->kn->id == {2}", own, level, *number);
}

} // namespace argtrace
