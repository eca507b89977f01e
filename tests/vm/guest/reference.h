// SPDX-License-Identifier: GPL-2.0-only
// Another tracer that sees arguments, to compare argtrace with.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "prototypes.h"

namespace vmtest {

/// A call as the reference saw it.
struct ReferenceCall {
    pid_t tid = 0;
    std::string function;
    char irqs = '.';                   ///< d off, b bottom halves off, D both
    char interrupt = '.';              ///< h hard, s soft, H both
    std::vector<std::uint64_t> values; ///< as it printed them: of the parameters, in order
    std::string line;
};

class Reference {
public:
    virtual ~Reference() = default;

    /// Begins to trace them, or those that it takes, which it returns. What it refuses, and why,
    /// is printed.
    virtual std::vector<KernelFunction> arm(const std::vector<KernelFunction> &functions) = 0;
    /// From here on nothing is recorded any more.
    virtual void pause() = 0;
    /// Of all that was recorded; the test fails if something was lost.
    virtual std::vector<ReferenceCall> calls(const std::vector<KernelFunction> &functions) = 0;
    virtual void disarm() = 0;
};

/// The kernel's fprobe events with $arg*.
std::unique_ptr<Reference> fprobe_reference();

/// The function tracer with func-args: arguments in registers only.
std::unique_ptr<Reference> func_args_reference();

} // namespace vmtest
