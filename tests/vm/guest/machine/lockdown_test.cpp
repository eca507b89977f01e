// SPDX-License-Identifier: GPL-2.0-only
// A kernel that is locked down, and remains so until it reboots: tests/vm/run runs this last, in a run
// of its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

const char *const lockdown_file = "/sys/kernel/security/lockdown";

bool raise_to(const char *level) {
    std::ofstream out(lockdown_file);
    out << level << std::flush;
    return out.good();
}

int open_error(const char *path, int flags) {
    const int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

TEST(Lockdown, refuses_us_where_it_refuses_tracefs) {
    if (access(lockdown_file, F_OK) != 0)
        mount("securityfs", "/sys/kernel/security", "securityfs", 0, nullptr);
    if (access(lockdown_file, F_OK) != 0)
        GTEST_SKIP() << "this kernel is built without the lockdown module";
    need_argtrace();

    const char *const tracefs_file = "/sys/kernel/tracing/current_tracer";
    ASSERT_EQ(open_error(ARGTRACE_DEVICE, O_RDWR), 0);
    ASSERT_TRUE(raise_to("integrity"));
    EXPECT_EQ(open_error(tracefs_file, O_RDONLY), 0);
    EXPECT_EQ(open_error(ARGTRACE_DEVICE, O_RDWR), 0)
        << "integrity alone is not touched by reading";

    ASSERT_TRUE(raise_to("confidentiality"));
    EXPECT_EQ(open_error(tracefs_file, O_RDONLY), EPERM);
    EXPECT_EQ(open_error(ARGTRACE_DEVICE, O_RDWR), EPERM);
    const Outcome outcome = run({"argtrace", "info"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(
        outcome.err.find("the kernel is locked down (confidentiality) and lets nobody trace it"),
        std::string::npos)
        << outcome.err;
}

} // namespace
} // namespace vmtest
