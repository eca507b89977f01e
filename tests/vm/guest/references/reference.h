// SPDX-License-Identifier: GPL-2.0-only
// Another tracer that records arguments, to compare argtrace with.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/prototypes.h"

namespace vmtest {

/// A call as the reference saw it.
struct ReferenceCall {
    pid_t tid = 0;
    std::string function;
    char irqs = '.';                   ///< d off, b bottom halves off, D both
    char interrupt = '.';              ///< h hard, s soft, H both
    std::vector<std::uint64_t> values; ///< as it printed them: of the parameters, in order, or what is returned
    std::uint64_t us = 0;              ///< when it saw it, or how long it took
    std::string line;
};

class Reference {
public:
    virtual ~Reference() = default;

    /// Starts tracing those of the functions that it accepts, and returns them. Prints which it refuses,
    /// and why.
    virtual std::vector<KernelFunction> arm(const std::vector<KernelFunction> &functions) = 0;
    /// Stops recording.
    virtual void pause() = 0;
    /// All recorded calls; the test fails if any was lost.
    virtual std::vector<ReferenceCall> calls(const std::vector<KernelFunction> &functions) = 0;
    virtual void disarm() = 0;
};

/// The kernel's fprobe events with $arg*.
std::unique_ptr<Reference> fprobe_reference();

/// The function tracer with func-args: arguments in registers only.
std::unique_ptr<Reference> func_args_reference();

// These see calls when they return.

/// The kernel's fprobe events with $retval, by CLOCK_MONOTONIC.
std::unique_ptr<Reference> fprobe_return_reference();

/// Its kretprobe events, likewise.
std::unique_ptr<Reference> kretprobe_reference();

/// The function_graph tracer: how long they took.
std::unique_ptr<Reference> function_graph_reference();

} // namespace vmtest
