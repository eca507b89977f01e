// SPDX-License-Identifier: GPL-2.0-only
#include "on_terminal.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "machine.h"

namespace vmtest {

OnTerminal::OnTerminal(const std::vector<std::string> &words) {
    const winsize size{terminal_lines, terminal_columns, 0, 0};
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

OnTerminal::~OnTerminal() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    ::close(terminal_);
}

void OnTerminal::type(const std::string &text) {
    EXPECT_EQ(::write(terminal_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

bool OnTerminal::shows(const std::string &text, std::size_t from) {
    return eventually([&] {
        take();
        return all_.find(text, from) != all_.npos;
    });
}

const std::string &OnTerminal::all() {
    take();
    return all_;
}

std::string OnTerminal::since_last(const std::string &text) {
    take();
    const std::size_t at = all_.rfind(text);
    return at == all_.npos ? "" : all_.substr(all_.rfind('\n', at) + 1);
}

int OnTerminal::status() {
    int status = -1;
    EXPECT_TRUE(eventually([&] {
        take();
        return ::waitpid(pid_, &status, WNOHANG) == pid_;
    }));
    pid_ = -1;
    take();
    return status;
}

void OnTerminal::expect_as_it_was() {
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

void OnTerminal::take() {
    pollfd input{terminal_, POLLIN, 0};
    char bytes[4096];
    while (::poll(&input, 1, 0) > 0) {
        const ssize_t size = ::read(terminal_, bytes, sizeof(bytes));
        if (size <= 0) // it has ended
            break;
        all_.append(bytes, static_cast<std::size_t>(size));
    }
}

std::vector<std::string> lines_shown(const std::string &written) {
    std::vector<std::string> lines(1);
    std::size_t line = 0, byte = 0;
    for (std::size_t at = 0; at < written.size(); at++) {
        if (written[at] == '\r') {
            byte = 0;
        } else if (written[at] == '\n') {
            if (++line == lines.size())
                lines.emplace_back();
        } else if (written[at] == '\x1b') {
            // ESC [ N A: so many lines up; ESC [ J: nothing more from here on
            std::size_t end = at + 2, up = 0;
            for (; end < written.size() && isdigit(static_cast<unsigned char>(written[end])); end++)
                up = 10 * up + static_cast<std::size_t>(written[end] - '0');
            const std::string what = written.substr(at, end + 1 - at);
            EXPECT_TRUE(what.starts_with("\x1b[") && (what.back() == 'A' || what == "\x1b[J")) << what.substr(1);
            EXPECT_TRUE(what.back() != 'A' || (up > 0 && up <= line && up < terminal_lines)) << "up " << up << " from line " << line;
            if (what.back() == 'A') {
                line -= std::min(up, line);
            } else {
                lines.resize(line + 1);
                lines[line].resize(std::min(byte, lines[line].size()));
            }
            at = end;
        } else {
            lines[line].resize(std::max(lines[line].size(), byte + 1), ' ');
            lines[line][byte++] = written[at];
        }
    }
    for (std::string &one : lines)
        one.resize(one.find_last_not_of(' ') + 1);
    return lines;
}

} // namespace vmtest
