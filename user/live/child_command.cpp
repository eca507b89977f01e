// SPDX-License-Identifier: GPL-2.0-only
#include "live/child_command.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

namespace {

// As shells have them.
constexpr int exit_not_executable = 126;
constexpr int exit_no_command = 127;
constexpr int exit_signalled = 128;

struct Pipe {
    Fd reader;
    Fd writer;
};

Pipe make_pipe(const std::string &name) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw CannotRun(name, errno);
    return {Fd(ends[0]), Fd(ends[1])};
}

} // namespace

CannotRun::CannotRun(const std::string &name, int error)
    : Error(fmt::format("{}: cannot be run: {}", name, std::strerror(error))),
      status_(error == ENOENT ? exit_no_command : exit_not_executable) {}

ChildCommand::ChildCommand(const std::vector<std::string> &words, bool stdout_is_taken)
    : name_(words.at(0)) {
    Pipe go = make_pipe(name_);
    Pipe error = make_pipe(name_);
    pid_ = ::fork();
    if (pid_ < 0)
        throw CannotRun(name_, errno);
    if (pid_ == 0) {
        go_ = std::move(go.reader);
        error_ = std::move(error.writer);
        go.writer = Fd();
        become(words, stdout_is_taken);
    }
    go_ = std::move(go.writer);
    error_ = std::move(error.reader);
    process_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    if (!process_)
        throw CannotRun(name_, errno);
}

/// The child: waits, and is the command then.
void ChildCommand::become(const std::vector<std::string> &words, bool stdout_is_taken) {
    std::vector<char *> arguments;
    for (const std::string &word : words)
        arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);

    // All before it waits, so that tracing of its system calls begins with the command's own execve().
    if (stdout_is_taken)
        ::dup2(STDERR_FILENO, STDOUT_FILENO);
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGXFSZ, SIG_DFL);
    char go = 0;
    ssize_t got;
    do {
        got = ::read(go_.get(), &go, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1) // nobody will ever say so
        ::_exit(exit_no_command);
    ::execvp(arguments[0], arguments.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(error_.get(), &error, sizeof(error));
    ::_exit(exit_no_command);
}

ChildCommand::~ChildCommand() {
    go_ = Fd(); // one that has not begun ends by itself
    finish();
}

void ChildCommand::start() {
    const char go = 1;
    if (::write(go_.get(), &go, 1) != 1) {
        if (errno == EPIPE) // a signal has ended it, as Ctrl-C does: its status says so
            return;
        throw CannotRun(name_, errno);
    }
    int error = 0;
    ssize_t got;
    do {
        got = ::read(error_.get(), &error, sizeof(error));
    } while (got < 0 && errno == EINTR);
    if (got == sizeof(error))
        throw CannotRun(name_, error);
}

bool ChildCommand::ended() const {
    pollfd state{process_.get(), POLLIN, 0};
    return status_ || ::poll(&state, 1, 0) > 0;
}

int ChildCommand::finish() {
    if (status_ || pid_ < 0)
        return status_.value_or(exit_no_command);
    if (!ended())
        ::kill(pid_, SIGTERM);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR)
        continue;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : exit_signalled + WTERMSIG(status);
    return *status_;
}

} // namespace argtrace
