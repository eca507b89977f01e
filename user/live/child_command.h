// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "util/error.h"
#include "util/fd.h"

namespace argtrace {

/// A command that cannot be run. `status` is what a shell would exit with.
class CannotRun : public Error {
public:
    CannotRun(const std::string &name, int error);

    int status() const { return status_; }

private:
    int status_;
};

/// A command that is ready to run, and waits for start().
class ChildCommand {
public:
    /// Throws Error when there can be no process. With `stdout_is_taken` its output goes to stderr.
    ChildCommand(const std::vector<std::string> &words, bool stdout_is_taken);

    /// Ends one that runs still, and waits for it.
    ~ChildCommand();
    ChildCommand(const ChildCommand &) = delete;
    ChildCommand &operator=(const ChildCommand &) = delete;

    /// Throws CannotRun when there is no such command.
    void start();

    /// Readable when it has ended.
    int fd() const { return process_.get(); }

    bool ended() const;

    /// Its exit status, or 128 + N where signal N ended it; asks it to end if it runs still.
    int finish();

    pid_t pid() const { return pid_; }

private:
    [[noreturn]] void become(const std::vector<std::string> &words, bool stdout_is_taken);

    std::string name_;
    Fd go_;    // written to: run
    Fd error_; // read from: the errno, if it could not be run
    Fd process_;
    pid_t pid_ = -1;
    std::optional<int> status_;
};

} // namespace argtrace
