// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cstdio>

#include "support/architecture.h"

namespace vmtest {

/// Plain char is unsigned on arm64, and from Linux 6.2 on everywhere (-funsigned-char).
inline bool char_is_signed() {
    if (is_arm64)
        return false;
    utsname name{};
    uname(&name);
    int major = 0, minor = 0;
    EXPECT_EQ(std::sscanf(name.release, "%d.%d", &major, &minor), 2);
    return major < 6 || (major == 6 && minor < 2);
}

} // namespace vmtest
