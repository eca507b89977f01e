// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "uapi/argtrace.h"
#include "util/error.h"
#include "util/fd.h"

namespace argtrace {

/// /dev/argtrace, opened.
class Device {
public:
    /// Throws Error when the module is not loaded, when we may not open it, or when its
    /// version is not ours.
    static Device open(const std::string &path = ARGTRACE_DEVICE);

    /// Opens it whatever the module's version; only info() may be called.
    static Device open_any(const std::string &path = ARGTRACE_DEVICE);

    argtrace_info info() const;

    /// One ioctl: 0 or the errno.
    int request(unsigned long number, void *argument) const;

    int fd() const { return fd_.get(); }

private:
    explicit Device(Fd fd) : fd_(std::move(fd)) {}

    Fd fd_;
};

/// One ioctl, again where a signal interrupts it: what it returns, which is negative with errno if it fails.
int ioctl_result(int fd, unsigned long number, void *argument);

/// For a request's members that say where something lies.
inline std::uint64_t user_address(const void *pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

/// Throws Error with both versions and the way out when the module's are not ours.
void check_versions(const argtrace_info &info);

/// Why the module refused a request for `what` ("cannot WHAT: ..."), for the errnos that
/// mean the same in all of them.
Error explain_request(std::string_view what, int error, const argtrace_info &info);

} // namespace argtrace
