// SPDX-License-Identifier: GPL-2.0-only
// top on a terminal: what can be typed, and that the terminal is afterwards as it was before, however it ends.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <string>

#include "machine.h"
#include "on_terminal.h"

namespace vmtest {
namespace {

class TopOnATerminal : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
    }
    void TearDown() override {
        EXPECT_TRUE(eventually([] { return !is_armed("at_four"); }));
    }

    /// Until that is shown of a table made since: calls of the functions, in each of its intervals.
    static bool shows_while_called(OnTerminal &top, const std::string &text) {
        const std::size_t from = top.all().size();
        return eventually([&] {
            call_functions("run", 5);
            return top.all().find(text, from) != std::string::npos;
        });
    }
};

TEST_F(TopOnATerminal, does_what_is_typed) {
    OnTerminal top({"argtrace", "top", "-r", "-i", "0.2", "at_four", "at_six", "at_u64"});
    ASSERT_TRUE(top.shows(" calls, by calls"));
    ASSERT_TRUE(shows_while_called(top, "at_u64"));
    for (const char *order : {"errors", "total", "mean", "p99", "name"}) {
        const std::size_t from = top.all().size();
        top.type("s\n");
        EXPECT_TRUE(top.shows(std::string(" calls, by ") + order, from)) << order;
    }
    ASSERT_TRUE(shows_while_called(top, "at_u64"));
    const std::string table = top.since_last("FUNC");
    EXPECT_LT(table.find("at_four"), table.find("at_six"));
    EXPECT_LT(table.find("at_six"), table.find("at_u64"));

    top.type("/six\n");
    EXPECT_TRUE(top.shows(", by name, /six"));
    ASSERT_TRUE(shows_while_called(top, "at_six"));
    EXPECT_EQ(top.since_last("FUNC").find("at_four"), std::string::npos);
    top.type("/\n");
    ASSERT_TRUE(shows_while_called(top, "at_four"));

    top.type("p\n");
    ASSERT_TRUE(top.shows(", by name, paused"));
    const std::string paused = top.since_last(", paused");
    call_functions("run", 100);
    const std::size_t from = top.all().size();
    top.type("s\n");
    ASSERT_TRUE(top.shows(" calls, by calls, paused", from));
    const std::string later = top.since_last(", paused");
    EXPECT_EQ(later.substr(0, later.find(" calls")), paused.substr(0, paused.find(" calls"))) << "it has gone on";
    top.type("p\n");
    EXPECT_TRUE(shows_while_called(top, " calls, by calls\r"));

    top.type("nonsense\n");
    ASSERT_TRUE(shows_while_called(top, "at_four"));
    top.type("q\n");
    const int status = top.status();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    top.expect_as_it_was();
}

TEST_F(TopOnATerminal, leaves_it_as_it_was_when_it_is_ended) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
        OnTerminal top({"argtrace", "top", "-i", "0.2", "at_four", "at_u64"});
        ASSERT_TRUE(top.shows(" calls, by calls")) << signal;
        ASSERT_TRUE(shows_while_called(top, "at_u64"));
        ASSERT_EQ(::kill(top.pid(), signal), 0);
        const int status = top.status();
        if (signal == SIGKILL)
            EXPECT_TRUE(WIFSIGNALED(status)) << status;
        else
            EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << signal << ": " << status;
        top.expect_as_it_was();
        EXPECT_TRUE(eventually([] { return !is_armed("at_four"); })) << signal;
    }
}

TEST_F(TopOnATerminal, ends_with_control_c) {
    OnTerminal top({"argtrace", "top", "-i", "0.2", "at_four"});
    ASSERT_TRUE(top.shows(" calls, by calls"));
    top.type("\x03");
    const int status = top.status();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    top.expect_as_it_was();
}

} // namespace
} // namespace vmtest
