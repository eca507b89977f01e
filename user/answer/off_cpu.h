// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/wait_totals.h"
#include "analyze/waits.h"
#include "answer/off_cpu_options.h"
#include "file/trace_target.h"
#include "model/counts.h"
#include "render/caller.h"
#include "render/key_text.h"
#include "render/waits.h"
#include "util/output.h"

namespace argtrace {

/// What `offcpu` answers. Its tracker is fed with switches and wakeups, of the running kernel or of a recording.
class OffCpuAnswer {
public:
    /// Both stay the caller's. Throws Error when the output cannot be written.
    OffCpuAnswer(const OffCpuOptions &options, const Symbols &symbols);
    OffCpuAnswer(const OffCpuAnswer &) = delete;
    OffCpuAnswer &operator=(const OffCpuAnswer &) = delete;

    WaitTracker &tracker() { return tracker_; }

    int fd() const { return output_.fd(); }

    /// There were waits since the last interval.
    bool has_waits() const { return !totals_.entries().empty(); }

    // These are false when nobody reads it any more.

    /// All waits since the last interval.
    [[nodiscard]] bool show();
    /// The same under the time of day, and begins an interval. `now`: when this one has ended, ns.
    [[nodiscard]] bool show_interval(std::uint64_t now);
    /// There are no more switches; the last was looked at until `end`, ns. `counts` of their records, as far as these are known. In JSON
    /// the object that comes last.
    [[nodiscard]] bool finish(std::uint64_t end, const std::optional<argtrace_counts> &counts);

    /// Once it is finished: says on stderr what it comes to, and what is not in it.
    void tell() const;

private:
    void append(std::string_view time);

    const OffCpuOptions &options_;
    TraceTarget target_;
    Output output_;
    CallerNames names_;
    KeyText keys_;
    WaitTotals totals_;
    WaitTracker tracker_;
    WaitTotal all_; // in intervals that have been shown, and in the end in all
    WaitsAside aside_;
};

} // namespace argtrace
