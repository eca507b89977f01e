// SPDX-License-Identifier: GPL-2.0-only
#include "session/device.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>

#include <fmt/format.h>

#include "model/module_version.h"
#include "session/open_error.h"
#include "util/units.h"

namespace argtrace {

Device Device::open(const std::string &path) {
    Device device = open_any(path);
    check_versions(device.info());
    return device;
}

Device Device::open_any(const std::string &path) {
    Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd) {
        int error = errno; // before anything else sets it
        throw explain_open(error, OpenCircumstances::here(path));
    }
    return Device(std::move(fd));
}

int ioctl_result(int fd, unsigned long number, void *argument) {
    int result;
    do
        result = ::ioctl(fd, number, argument);
    while (result < 0 && errno == EINTR);
    return result;
}

int Device::request(unsigned long number, void *argument) const {
    return ioctl_result(fd_.get(), number, argument) < 0 ? errno : 0;
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
    case ESHUTDOWN:
        return Error(fmt::format("cannot {}: the argtrace module is being unloaded; load it again with "
                                 "`modprobe argtrace`",
                                 what));
    default:
        return Error(fmt::format("cannot {}: {}", what, std::strerror(error)));
    }
}

} // namespace argtrace
