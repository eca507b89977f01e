// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

namespace argtrace {

/// The condition, as of --if, that the current task is in that cgroup or one below it: a folder of cgroup2, or the path below
/// /sys/fs/cgroup that /proc/PID/cgroup has. Throws Error, which begins with --cgroup.
std::string cgroup_condition(const std::string &path);

} // namespace argtrace
