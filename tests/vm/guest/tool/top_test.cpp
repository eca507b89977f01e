// SPDX-License-Identifier: GPL-2.0-only
// top on a terminal: what can be typed, and that the terminal is afterwards as it was before, however it ends.
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/machine.h"

namespace vmtest {
namespace {

/// A program on a terminal of its own.
class OnTerminal {
public:
    explicit OnTerminal(const std::vector<std::string> &words) {
        const winsize size{24, 80, 0, 0};
        pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
        EXPECT_GE(pid_, 0);
        if (pid_ == 0) {
            std::vector<char *> argv;
            for (const std::string &word : words)
                argv.push_back(const_cast<char *>(word.c_str()));
            argv.push_back(nullptr);
            // So that the parent can look at the terminal first.
            char go;
            if (::read(STDIN_FILENO, &go, 1) == 1)
                ::execvp(argv[0], argv.data());
            ::_exit(127);
        }
        ::tcgetattr(terminal_, &before_);
        type("\n");
    }
    ~OnTerminal() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
        ::close(terminal_);
    }
    OnTerminal(const OnTerminal &) = delete;
    OnTerminal &operator=(const OnTerminal &) = delete;

    pid_t pid() const { return pid_; }

    void type(const std::string &text) {
        EXPECT_EQ(::write(terminal_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }

    /// Whether that is shown, from `from` on, before long.
    bool shows(const std::string &text, std::size_t from = 0) {
        return eventually([&] {
            take();
            return all_.find(text, from) != all_.npos;
        });
    }

    /// All that has been shown so far.
    const std::string &all() {
        take();
        return all_;
    }

    /// What is shown from the last line on that has `text` in it.
    std::string since_last(const std::string &text) {
        take();
        const std::size_t at = all_.rfind(text);
        return at == all_.npos ? "" : all_.substr(all_.rfind('\n', at) + 1);
    }

    /// Waits for its end; as waitpid() has it.
    int status() {
        int status = -1;
        EXPECT_TRUE(eventually([&] {
            take();
            return ::waitpid(pid_, &status, WNOHANG) == pid_;
        }));
        pid_ = -1;
        take();
        return status;
    }

    void expect_as_it_was() {
        termios now{};
        EXPECT_EQ(::tcgetattr(terminal_, &now), 0);
        EXPECT_EQ(now.c_iflag, before_.c_iflag);
        EXPECT_EQ(now.c_oflag, before_.c_oflag);
        EXPECT_EQ(now.c_cflag, before_.c_cflag);
        EXPECT_EQ(now.c_lflag, before_.c_lflag);
        EXPECT_EQ(std::memcmp(now.c_cc, before_.c_cc, sizeof(now.c_cc)), 0);
        // A hidden cursor, another screen, a changed keypad would stay: ESC [ ? N h or l.
        EXPECT_EQ(all().find("\x1b[?"), std::string::npos);
    }

private:
    void take() {
        pollfd input{terminal_, POLLIN, 0};
        char bytes[4096];
        while (::poll(&input, 1, 0) > 0) {
            const ssize_t size = ::read(terminal_, bytes, sizeof(bytes));
            if (size <= 0) // it has ended
                break;
            all_.append(bytes, static_cast<std::size_t>(size));
        }
    }

    int terminal_ = -1;
    pid_t pid_ = -1;
    termios before_{};
    std::string all_;
};

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
    // Some are missing from a table that is there in part, and from an interval that ended between two functions.
    EXPECT_TRUE(eventually([&top] {
        call_functions("run", 5);
        const std::string table = top.since_last("FUNC");
        const std::size_t four = table.find("at_four"), six = table.find("at_six"), last = table.find("at_u64");
        return last != table.npos && four < six && six < last;
    })) << top.since_last("FUNC");

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
