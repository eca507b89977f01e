// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "util/fd.h"

// How much memory something takes: it is done by a test of this program in a process of its own, since what a
// process has needed before cannot be told apart.
namespace argtrace::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool counts_own_memory = false;
#elif defined(__has_feature)
inline constexpr bool counts_own_memory = !__has_feature(address_sanitizer);
#else
inline constexpr bool counts_own_memory = true;
#endif

inline constexpr const char *peak_pipe = "ARGTRACE_TEST_PEAK"; ///< where the child tells it

/// The most memory, in KiB, that this program has needed since it began. getrusage() would say no
/// less than what the process needed before, when it was a copy of another test's.
inline long own_peak() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:"))
            return std::stol(line.substr(6));
    }
    return 0;
}

/// The child's part, when it has done what it is to do.
inline void tell_peak() {
    const long peak = own_peak();
    const char *pipe = std::getenv(peak_pipe);
    ASSERT_NE(pipe, nullptr);
    ASSERT_EQ(::write(std::atoi(pipe), &peak, sizeof(peak)), static_cast<ssize_t>(sizeof(peak)));
}

/// The most memory, in KiB, that these tests need by themselves, which find `what` in the environment as
/// `variable`.
inline long peak_of_child(const std::string &tests, const char *variable, const std::string &what) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, 0), 0);
    const Fd from(ends[0]);
    Fd to(ends[1]);
    const std::string pipe = std::to_string(to.get());
    const std::string filter = "--gtest_filter=" + tests;
    const pid_t child = ::fork();
    if (child == 0) {
        ::setenv(peak_pipe, pipe.c_str(), 1);
        ::setenv(variable, what.c_str(), 1);
        ::execl("/proc/self/exe", "argtrace_tests", filter.c_str(), "--gtest_brief=1", nullptr);
        ::_exit(1);
    }
    to = Fd();
    long peak = 0;
    EXPECT_EQ(::read(from.get(), &peak, sizeof(peak)), static_cast<ssize_t>(sizeof(peak)));
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << tests << " fails with " << what;
    return peak;
}

/// The least of several peaks, if the first is not below `enough`: threads that wait for their turn keep more now and then, and what
/// grows with the work does so each time.
template<typename Peak>
long least_peak(long enough, Peak peak) {
    long least = peak();
    for (int tries = 1; tries < 4 && least >= enough; ++tries)
        least = std::min(least, peak());
    return least;
}

} // namespace argtrace::test
