// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cstdio>

namespace vmtest {

/// Plain char is unsigned from Linux 6.2 on (-funsigned-char).
inline bool char_is_signed() {
    utsname name{};
    uname(&name);
    int major = 0, minor = 0;
    EXPECT_EQ(std::sscanf(name.release, "%d.%d", &major, &minor), 2);
    return major < 6 || (major == 6 && minor < 2);
}

} // namespace vmtest
