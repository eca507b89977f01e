// SPDX-License-Identifier: GPL-2.0-only
// Stacks as the kernel's own tools show them.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>
#include <vector>

namespace vmtest {

/// "symbol+0xoffset" or "symbol+0xoffset [module]", the innermost first.
using CallChain = std::vector<std::string>;

/// "acl_once+0x9/0x20 [argtrace_callers]" -> "acl_once+0x9 [argtrace_callers]"
std::string without_size(std::string frame);

/// "acl_once+0x9 [argtrace_callers]" -> "acl_once"
std::string function_of(const std::string &frame);

/// What the buffer of ftrace has of a trigger `stacktrace`, with options/sym-offset.
std::vector<CallChain> chains_of_trace();

/// What dump_stack(), or a backtrace of all CPUs, has written to the kernel's log. Frames that the kernel is not sure of are left out.
std::vector<CallChain> chains_of_log();

/// Samples of all CPUs with their kernel stacks, for as long as it is there.
class PerfChains {
public:
    PerfChains(std::uint32_t type, std::uint64_t config, std::uint64_t period);
    ~PerfChains();
    PerfChains(const PerfChains &) = delete;
    PerfChains &operator=(const PerfChains &) = delete;

    /// Those since this was last asked.
    std::vector<CallChain> take();

private:
    struct Cpu {
        int fd;
        unsigned char *at;
    };

    static void take_from(const Cpu &cpu, std::vector<std::vector<std::uint64_t>> &chains);

    std::vector<Cpu> cpus_;
};

} // namespace vmtest
