// SPDX-License-Identifier: GPL-2.0-only
// A process that is stopped by ptrace at single instructions or at system calls, and whose stack elfutils unwinds there (libdwfl, by the
// process's own memory): what user stacks are compared with where programs cannot say it themselves.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace vmtest {

class StoppedProcess {
public:
    /// Stops a thread that runs.
    explicit StoppedProcess(pid_t pid, pid_t tid = 0);
    /// Lets it run on.
    ~StoppedProcess();
    StoppedProcess(const StoppedProcess &) = delete;
    StoppedProcess &operator=(const StoppedProcess &) = delete;

    /// Each returns false when it has ended.
    bool run_on(unsigned microseconds);
    /// One instruction, after which the kernel has called force_sig_fault(SIGTRAP).
    bool step();
    /// To the beginning or the end of the next system call, where the kernel has called ptrace_notify().
    bool to_syscall();

    /// As UserStacks::names() has it, with "END" behind the frame whose caller libdwfl has not found, or is not the one that the stack has. At most `limit` frames.
    std::vector<std::string> stack(std::size_t limit);

private:
    struct Unwinder;
    class AtSignalReturn;
    enum class Stop { ended, stepped, syscall, other };
    Stop go(int request);
    void read_maps();
    bool is_signal_return(std::uint64_t address) const;
    bool is_in_syscall() const;
    bool leaves_stack(std::uint64_t address) const;
    std::string place_of(std::uint64_t address) const;

    pid_t pid_, tid_;
    int signal_ = 0; // that it is stopped for, and will be given
    bool ended_ = false;
    std::string maps_;
    struct Mapping {
        std::uint64_t begin, end, offset;
        std::string name;
    };
    std::vector<Mapping> mappings_;
    std::unique_ptr<Unwinder> unwinder_;
};

} // namespace vmtest
