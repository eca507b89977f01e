// SPDX-License-Identifier: GPL-2.0-only
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "live/child_command.h"
#include "live/process_watch.h"
#include "support/temporary_file.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

std::vector<std::string> shell(const std::string &script) {
    return {"sh", "-c", script};
}

void wait_for(int fd) {
    pollfd state{fd, POLLIN, 0};
    ASSERT_EQ(::poll(&state, 1, 60000), 1);
}

int status_of(const std::string &script) {
    ChildCommand command(shell(script), false);
    command.start();
    wait_for(command.fd());
    EXPECT_TRUE(command.ended());
    return command.finish();
}

int status_without(const std::string &file) {
    ChildCommand command({file}, false);
    try {
        command.start();
    } catch (const CannotRun &error) {
        EXPECT_EQ(std::string(error.what()).find(file + ": cannot be run: "), 0u) << error.what();
        return error.status();
    }
    return 0;
}

TEST(ChildCommand, EndsWithItsStatus) {
    EXPECT_EQ(status_of("exit 0"), 0);
    EXPECT_EQ(status_of("exit 3"), 3);
    EXPECT_EQ(status_of("kill -9 $$"), 128 + SIGKILL);
}

TEST(ChildCommand, WaitsUntilItIsStarted) {
    const test::TemporaryFile file("");
    std::remove(file.path().c_str());
    ChildCommand command(shell(": > " + file.path()), false);
    pollfd state{command.fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&state, 1, 20), 0);
    EXPECT_FALSE(command.ended());
    EXPECT_NE(::access(file.path().c_str(), F_OK), 0);
    command.start();
    wait_for(command.fd());
    EXPECT_EQ(::access(file.path().c_str(), F_OK), 0);
}

TEST(ChildCommand, WhatCannotBeRunHasTheStatusOfAShell) {
    const test::TemporaryFile file("no program");
    EXPECT_EQ(status_without("/nowhere/argtrace_test"), 127);
    EXPECT_EQ(status_without(file.path()), 126);
}

TEST(ChildCommand, IsAskedToEnd) {
    ChildCommand command(shell("exec sleep 1000"), false);
    command.start();
    EXPECT_EQ(command.finish(), 128 + SIGTERM);
}

TEST(ProcessWatch, EndsWithTheLastProcess) {
    ChildCommand one(shell("exec sleep 1000"), false), other(shell("exec sleep 1000"), false);
    one.start();
    other.start();
    const std::vector<std::uint32_t> pids{static_cast<std::uint32_t>(one.pid()), static_cast<std::uint32_t>(other.pid())};
    ProcessWatch watch(pids);
    EXPECT_FALSE(watch.ended());
    one.finish();
    wait_for(watch.fd());
    EXPECT_FALSE(watch.ended());
    other.finish();
    wait_for(watch.fd());
    EXPECT_TRUE(watch.ended());
}

TEST(ProcessWatch, WantsProcessesThatAreThere) {
    std::uint32_t gone = 0;
    {
        ChildCommand command(shell("exit 0"), false);
        command.start();
        command.finish();
        gone = static_cast<std::uint32_t>(command.pid());
    }
    EXPECT_NE(thrown([&] { ProcessWatch({&gone, 1}); }), "");
}

} // namespace
} // namespace argtrace
