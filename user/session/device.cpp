// SPDX-License-Identifier: GPL-2.0-only
#include "session/device.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "model/module_version.h"
#include "util/units.h"

namespace argtrace {

namespace {

constexpr const char *lockdown_file = "/sys/kernel/security/lockdown";

std::string read_lockdown() {
    std::ifstream file(lockdown_file);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The level that stands in brackets; empty when the kernel is not locked down.
std::string_view lockdown_level(std::string_view lockdown) {
    auto open = lockdown.find('[');
    auto close = lockdown.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        return {};
    auto level = lockdown.substr(open + 1, close - open - 1);
    return level == "none" ? std::string_view{} : level;
}

} // namespace

Device Device::open(const std::string &path) {
    Device device = open_any(path);
    check_versions(device.info());
    return device;
}

Device Device::open_any(const std::string &path) {
    Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd) {
        int error = errno; // before anything else sets it
        throw explain_open(error, ::geteuid() == 0, read_lockdown());
    }
    return Device(std::move(fd));
}

int Device::request(unsigned long number, void *argument) const {
    int result;
    do
        result = ::ioctl(fd_.get(), number, argument);
    while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
}

argtrace_info Device::info() const {
    argtrace_info info{};
    info.size = sizeof(info);
    int error = request(ARGTRACE_IOC_INFO, &info);
    if (error == ENOTTY)
        throw Error(fmt::format("{} does not belong to the argtrace module", ARGTRACE_DEVICE));
    if (error != 0)
        throw Error(
            fmt::format("the argtrace module does not say what it is: {}", std::strerror(error)));
    return info;
}

void check_versions(const argtrace_info &info) {
    if (info.api_version == ARGTRACE_API_VERSION && info.record_version == ARGTRACE_RECORD_VERSION)
        return;
    throw Error(fmt::format(
        "the loaded module (argtrace {}, API {}, records {}) and this tool (argtrace {}, API {}, "
        "records {}) do not fit together: install both from the same version, then reload the "
        "module with `rmmod argtrace && modprobe argtrace`",
        module_version(info), info.api_version, info.record_version, ARGTRACE_VERSION,
        ARGTRACE_API_VERSION, ARGTRACE_RECORD_VERSION));
}

Error explain_open(int error, bool root, std::string_view lockdown) {
    switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
        return Error("the argtrace module is not loaded: run `modprobe argtrace` (or "
                     "`insmod argtrace.ko`)");
    case EACCES:
    case EPERM:
        if (auto level = lockdown_level(lockdown); root && !level.empty())
            return Error(fmt::format("the kernel is locked down ({}) and lets nobody trace it: "
                                     "see {} and kernel_lockdown(7)",
                                     level, lockdown_file));
        // The file's mode says EACCES, the module EPERM.
        if (error == EACCES)
            return Error(fmt::format("no permission to open {}: run as root; a udev rule can open "
                                     "it to a group of users (see ACCESS in argtrace(1))",
                                     ARGTRACE_DEVICE));
        return Error("no permission to trace: run as root (CAP_SYS_ADMIN or CAP_PERFMON is "
                     "needed)");
    default:
        return Error(fmt::format("cannot open {}: {}", ARGTRACE_DEVICE, std::strerror(error)));
    }
}

Error explain_request(std::string_view what, int error, const argtrace_info &info) {
    switch (error) {
    case ENOSPC:
        return Error(fmt::format(
            "cannot {}: the module's memory limit of {} would be passed ({} are in use); use a "
            "smaller --buffer, or raise the limit: /sys/module/argtrace/parameters/memory_limit_mb",
            what, format_size(info.memory_limit), format_size(info.memory_used)));
    case ENOMEM:
        return Error(fmt::format("cannot {}: the kernel has no memory for it; use a smaller "
                                 "--buffer",
                                 what));
    case EPERM:
    case EACCES:
        return Error(fmt::format("cannot {}: it takes CAP_PERFMON or CAP_SYS_ADMIN, which this "
                                 "process does not have any more",
                                 what));
    case ENOTTY:
        return Error(fmt::format("cannot {}: the loaded module is too old for it", what));
    default:
        return Error(fmt::format("cannot {}: {}", what, std::strerror(error)));
    }
}

} // namespace argtrace
