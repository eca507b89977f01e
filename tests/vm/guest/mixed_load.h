// SPDX-License-Identifier: GPL-2.0-only
// A load that calls a good part of the kernel: files, processes, pipes, sockets, signals, memory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace vmtest {

/// The threads that a load has had, in memory that all of its processes share.
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

/// Does everything once, with the same calls of the system each time. Ends the process with 1,
/// and says on stderr what went wrong, if anything does. Leaves nothing behind in `directory`,
/// which it makes. The threads it makes enter `threads`.
void mixed_load_round(const std::string &directory, ThreadList &threads);

/// Processes that do rounds until they are told to stop, which the destructor does.
class MixedLoad {
public:
    explicit MixedLoad(unsigned processes);
    ~MixedLoad();
    MixedLoad(const MixedLoad &) = delete;
    MixedLoad &operator=(const MixedLoad &) = delete;

    /// Each ends its round; the test fails where one has failed before. Returns how many
    /// rounds all of them have done.
    std::uint64_t stop();

private:
    struct Shared;
    Shared *shared_;
    std::vector<pid_t> processes_;
};

} // namespace vmtest
