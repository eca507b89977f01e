// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "answer/off_cpu_options.h"
#include "file/trace_target.h"
#include "render/caller.h"
#include "render/key_text.h"
#include "util/output.h"

namespace argtrace {

/// Where `offcpu` shows waits.
class WaitOutput {
public:
    /// Both stay the caller's.
    WaitOutput(const OffCpuOptions &options, const Symbols &symbols);

    int fd() const { return output_.fd(); }

    // These are false when nobody reads it any more.

    [[nodiscard]] bool show(const WaitTotals &totals);
    /// `now`: when the interval has ended, ns.
    [[nodiscard]] bool show_interval(const WaitTotals &totals, std::uint64_t now);
    /// The object that ends the JSON.
    [[nodiscard]] bool finish(const WaitTotal &all, const WaitsAside &aside);

private:
    const OffCpuOptions &options_;
    TraceTarget target_;
    Output output_;
    CallerNames names_;
    KeyText keys_;
};

} // namespace argtrace
