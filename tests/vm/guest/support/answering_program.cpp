// SPDX-License-Identifier: GPL-2.0-only
#include "support/answering_program.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace vmtest {

AnsweringProgram::AnsweringProgram(const std::string &path, const std::string &argument) {
    int in[2], out[2];
    EXPECT_EQ(pipe(in) + pipe(out), 0);
    pid_ = fork();
    if (pid_ == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        for (const int fd : {in[0], in[1], out[0], out[1]})
            close(fd);
        execl(path.c_str(), path.c_str(), argument.c_str(), nullptr);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = fdopen(out[0], "r");
}

AnsweringProgram::~AnsweringProgram() {
    close(in_);
    fclose(out_);
    waitpid(pid_, nullptr, 0);
}

std::string AnsweringProgram::ask(const std::string &line) {
    char answer[64] = "-1";
    const std::string text = line + '\n';
    EXPECT_EQ(write(in_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    EXPECT_TRUE(fgets(answer, sizeof(answer), out_));
    return answer;
}

} // namespace vmtest
