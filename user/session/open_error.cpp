// SPDX-License-Identifier: GPL-2.0-only
#include "session/open_error.h"

#include <cerrno>
#include <cstring>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "uapi/argtrace.h"
#include "util/capabilities.h"
#include "util/file.h"

namespace argtrace {

namespace {

constexpr const char *lockdown_file = "/sys/kernel/security/lockdown";

/// Empty where there is no such file, or it cannot be read.
std::string read_if_possible(const char *path) {
    try {
        return std::string(view(read_file(path)));
    } catch (const std::system_error &) {
        return {};
    }
}

/// The level in brackets; empty when the kernel is not locked down.
std::string_view lockdown_level(std::string_view lockdown) {
    auto open = lockdown.find('[');
    auto close = lockdown.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        return {};
    auto level = lockdown.substr(open + 1, close - open - 1);
    return level == "none" ? std::string_view{} : level;
}

std::optional<OpenCircumstances::Access> access_of(const std::string &path) {
    struct stat status;
    if (::stat(path.c_str(), &status) != 0)
        return {};
    const passwd *owner = ::getpwuid(status.st_uid);
    const group *members = ::getgrgid(status.st_gid);
    return OpenCircumstances::Access{status.st_mode & 07777u, owner ? owner->pw_name : std::to_string(status.st_uid),
                                     members ? members->gr_name : std::to_string(status.st_gid)};
}

/// To a process that the module would let trace, if only the file's mode let it open the device.
Error explain_mode(std::string_view capability, const OpenCircumstances::Access &access) {
    constexpr mode_t group_may_open = S_IRGRP | S_IWGRP;
    const std::string way_out =
        (access.mode & group_may_open) == group_may_open
            ? fmt::format("add its user to the group {0}, or change GROUP=\"{0}\" in the udev rule to a group that its user is in",
                          access.group)
            : "write a udev rule with MODE=\"0660\" and as GROUP= a group that its user is in";
    return Error(fmt::format("no permission to open {}, which belongs to {}:{} and has mode {:04o}: this process has {}, "
                             "but must be able to open the file as well; {} (see ACCESS in argtrace(1))",
                             ARGTRACE_DEVICE, access.owner, access.group, access.mode, capability, way_out));
}

} // namespace

OpenCircumstances OpenCircumstances::here(const std::string &path) {
    return {::geteuid() == 0, effective_capabilities(read_if_possible("/proc/self/status")),
            read_if_possible(lockdown_file), access_of(path)};
}

Error explain_open(int error, const OpenCircumstances &circumstances) {
    switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
        return Error("the argtrace module is not loaded: run `modprobe argtrace` (or "
                     "`insmod argtrace.ko`)");
    case EACCES:
    case EPERM:
        if (auto level = lockdown_level(circumstances.lockdown); circumstances.root && !level.empty())
            return Error(fmt::format("the kernel is locked down ({}) and lets nobody trace it: "
                                     "see {} and kernel_lockdown(7)",
                                     level, lockdown_file));
        // The file's mode says EACCES, the module EPERM.
        if (error == EPERM)
            return Error("no permission to trace: run as root (CAP_SYS_ADMIN or CAP_PERFMON is "
                         "needed)");
        for (const auto &[capability, name] : {std::pair{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"}, {CAP_PERFMON, "CAP_PERFMON"}})
            if (circumstances.access && has_capability(circumstances.capabilities, capability))
                return explain_mode(name, *circumstances.access);
        return Error(fmt::format("no permission to open {}: run as root; a udev rule can open "
                                 "it to a group of users (see ACCESS in argtrace(1))",
                                 ARGTRACE_DEVICE));
    default:
        return Error(fmt::format("cannot open {}: {}", ARGTRACE_DEVICE, std::strerror(error)));
    }
}

} // namespace argtrace
