// SPDX-License-Identifier: GPL-2.0-only
// Programs on a terminal.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <string>
#include <vector>

namespace vmtest {

inline constexpr unsigned short terminal_lines = 24, terminal_columns = 80;

/// A program on a terminal of its own; the destructor kills it.
class OnTerminal {
public:
    explicit OnTerminal(const std::vector<std::string> &words);
    ~OnTerminal();
    OnTerminal(const OnTerminal &) = delete;
    OnTerminal &operator=(const OnTerminal &) = delete;

    pid_t pid() const { return pid_; }

    void type(const std::string &text);

    /// Whether that is shown, from `from` on, before long.
    bool shows(const std::string &text, std::size_t from = 0);

    /// All that has been shown so far.
    const std::string &all();

    /// What is shown from the last line on that has `text` in it.
    std::string since_last(const std::string &text);

    /// Waits for its end; as waitpid() has it.
    int status();

    void expect_as_it_was();

private:
    void take();

    int terminal_ = -1;
    pid_t pid_ = -1;
    termios before_{};
    std::string all_;
};

/// The lines that a terminal has in the end of which all this has been written, without blanks at their ends. They may be more than it
/// has room for. The test fails at what is neither text nor what argtrace moves the cursor with.
std::vector<std::string> lines_shown(const std::string &written);

} // namespace vmtest
