// SPDX-License-Identifier: GPL-2.0-only
// A process that calls the helper module's functions on request, in one of several ways.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace vmtest {

class Actor {
public:
    /// Starts a child process; with `tid`, one with that PID, which must be free.
    explicit Actor(pid_t tid = 0);
    /// Ends it and waits for it.
    ~Actor();
    Actor(const Actor &) = delete;
    Actor &operator=(const Actor &) = delete;

    pid_t pid() const { return pid_; }

    /// Each returns when at_four has been called that many times: by the process itself, by a second
    /// thread, by a new child, by a child of such a child.
    void call(std::uint64_t count) { tell('c', count); }
    void call_in_thread(std::uint64_t count) { tell('t', count); }
    void call_in_child(std::uint64_t count) { tell('f', count); }
    void call_in_grandchild(std::uint64_t count) { tell('g', count); }

    /// The process executes a shell, which makes that many calls and exits.
    void call_in_shell(std::uint64_t count);

    /// The TID of a thread that stays alive.
    pid_t thread();

    void end();

private:
    void tell(char what, std::uint64_t count);
    void reap();

    pid_t pid_ = -1;
    int to_ = -1, from_ = -1;
};

} // namespace vmtest
