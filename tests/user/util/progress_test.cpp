// SPDX-License-Identifier: GPL-2.0-only
#include "util/progress.h"

#include <array>
#include <fcntl.h>
#include <pty.h>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "util/fd.h"

namespace argtrace {
namespace {

constexpr std::uint64_t second = 1000000000;

/// What has been written and not been read yet.
std::string written_to(const Fd &fd) {
    ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
    std::array<char, 512> text;
    const ssize_t got = ::read(fd.get(), text.data(), text.size());
    return {text.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

TEST(Progress, OnceASecondOnATerminal) {
    int ends[2];
    ASSERT_EQ(::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr), 0);
    const Fd screen(ends[0]);
    const Fd terminal(ends[1]);
    Progress progress(terminal.get(), 5 * second);
    EXPECT_FALSE(progress.due(6 * second - 1)) << "what is done at once needs no progress";
    progress.clear();
    EXPECT_EQ(written_to(screen), "") << "there is nothing to take away";
    ASSERT_TRUE(progress.due(6 * second));
    progress.tell(6 * second, "12 MiB read");
    EXPECT_EQ(written_to(screen), "\rargtrace: 12 MiB read\033[K");
    EXPECT_FALSE(progress.due(7 * second - 1));
    EXPECT_TRUE(progress.due(7 * second));
    progress.clear();
    EXPECT_EQ(written_to(screen), "\r\033[K");
    progress.disable();
    EXPECT_FALSE(progress.due(9 * second));
}

TEST(Progress, NeverToAFile) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd reader(ends[0]);
    const Fd writer(ends[1]);
    Progress progress(writer.get(), 0);
    EXPECT_FALSE(progress.due(100 * second));
}

} // namespace
} // namespace argtrace
