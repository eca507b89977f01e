// SPDX-License-Identifier: GPL-2.0-only
// A load that calls a good part of the kernel: files, processes, pipes, sockets, signals, memory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace vmtest {

/// All threads that a load has had, in memory that its processes share.
class ThreadList {
public:
    ThreadList();
    ~ThreadList();
    ThreadList(const ThreadList &) = delete;
    ThreadList &operator=(const ThreadList &) = delete;

    /// Adds the calling thread.
    void enter();
    void forget();
    std::vector<pid_t> all() const;

private:
    struct Shared;
    Shared *shared_;
};

/// Does everything once, with the same system calls each time. On failure prints the reason to stderr
/// and exits with status 1. Creates `directory` and leaves nothing in it. Adds the threads that it
/// starts to `threads`.
void mixed_load_round(const std::string &directory, ThreadList &threads);

/// Does so many rounds in a process of its own, and returns which threads that had when they have ended.
std::set<pid_t> do_mixed_load_rounds(const std::string &directory, int rounds);

/// Processes that do rounds until the destructor stops them.
class MixedLoad {
public:
    explicit MixedLoad(unsigned processes);
    ~MixedLoad();
    MixedLoad(const MixedLoad &) = delete;
    MixedLoad &operator=(const MixedLoad &) = delete;

    /// Lets each finish its round and returns the number of rounds that all have done; the test fails if
    /// one has failed before.
    std::uint64_t stop();

private:
    struct Shared;
    Shared *shared_;
    std::vector<pid_t> processes_;
};

} // namespace vmtest
