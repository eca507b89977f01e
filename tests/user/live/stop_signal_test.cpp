// SPDX-License-Identifier: GPL-2.0-only
#include <csignal>

#include <gtest/gtest.h>
#include <poll.h>

#include "live/stop_signal.h"

namespace argtrace {
namespace {

bool is_readable(int fd) {
    pollfd state{fd, POLLIN, 0};
    return ::poll(&state, 1, 0) > 0;
}

TEST(StopSignal, AsksForAnEnd) {
    {
        const StopSignal stop;
        EXPECT_FALSE(stop.requested());
        EXPECT_FALSE(is_readable(stop.fd()));
        std::raise(SIGTERM);
        EXPECT_TRUE(stop.requested());
        EXPECT_TRUE(is_readable(stop.fd()));
    }
    EXPECT_FALSE(StopSignal().requested()) << "of the one before";
}

TEST(StopSignalDeathTest, TheSecondOneKills) {
    EXPECT_EXIT(
        {
            const StopSignal stop;
            std::raise(SIGTERM);
            std::raise(SIGTERM);
        },
        testing::KilledBySignal(SIGTERM), "");
}

TEST(StopSignalDeathTest, SignalsKillOnceItIsGone) {
    EXPECT_EXIT(
        {
            { const StopSignal stop; }
            std::raise(SIGINT);
        },
        testing::KilledBySignal(SIGINT), "");
}

} // namespace
} // namespace argtrace
