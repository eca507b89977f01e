// SPDX-License-Identifier: GPL-2.0-only
// A program that answers each line that it is sent by one, until there are no more.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>

namespace vmtest {

class AnsweringProgram {
public:
    AnsweringProgram(const std::string &path, const std::string &argument);
    /// It ends when its input does, and is waited for.
    ~AnsweringProgram();
    AnsweringProgram(const AnsweringProgram &) = delete;
    AnsweringProgram &operator=(const AnsweringProgram &) = delete;

    /// The answer to a line. The test fails if there is none.
    std::string ask(const std::string &line);
    pid_t pid() const { return pid_; }

private:
    pid_t pid_;
    int in_;
    FILE *out_;
};

} // namespace vmtest
