// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

#include "analyze/wait_totals.h"
#include "answer/aggregate_options.h"
#include "render/waits.h"

namespace argtrace {

/// What `offcpu` is asked for. Its functions are those of the scheduler.
struct OffCpuOptions : TracingOptions, TimeOptions {
    WaitTotals::Wanted wanted;
    WaitStyle style;
    bool json = false;
    std::string output; ///< a file; empty: stdout
    std::string input;  ///< a recording; empty: the running kernel
    unsigned jobs = 0;  ///< threads that read it; 0: one for each CPU
    bool stacks_chosen = false; ///< with --stack or --no-stack; else all are shown that there are

    void choose_stacks(StackChoice stacks) {
        wanted.stacks = stacks.kernel;
        wanted.user_stacks = stacks.user;
        stacks_chosen = true;
    }

    /// The output is a recording, of which waits are made later.
    bool records() const { return std::string_view(output).ends_with(".dat"); }
};

} // namespace argtrace
