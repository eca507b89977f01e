// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "file/writer.h"
#include "live/loop.h"
#include "live/run.h"
#include "record/recorder.h"
#include "session/live_symbols.h"
#include "util/progress.h"

namespace argtrace {

/// Records a session while its events happen.
class LiveRecord : private LiveLoop {
public:
    using LiveLoop::End;

    /// Both stay the caller's, and so does what the sources are.
    LiveRecord(const LiveSources &sources, Recorder &recorder, TraceWriter &writer)
        : LiveLoop(sources, writer.fd()), recorder_(recorder), writer_(writer) {}

    /// Until one of these; what the rings still hold then is left to the caller. `duration` in ns.
    /// Throws Error when the file cannot be written, or nobody reads it any more.
    End run(std::optional<std::uint64_t> duration, const StopSignal &stop);

    /// Records what the rings still hold.
    void finish();

private:
    void add(std::span<const RingView> rings) override { recorder_.add(rings); }
    std::optional<End> round(const Now &now) override;
    std::optional<std::uint64_t> next_round(std::uint64_t now) override;

    Recorder &recorder_;
    TraceWriter &writer_;
    std::optional<Progress> progress_;
    std::uint64_t last_round_ = 0; // when it was
    std::uint64_t filled_in_ = 0;  // the time from the round before to the last one
    bool found_ = false;           // the last round found something
};

/// The file that the calls of a run are recorded to.
class Recording {
public:
    /// Begins the file with what describes the session. Throws Error. `run` stays the caller's.
    Recording(Run &run, TraceTarget target, std::optional<int> compression, const TraceInfo &info);

    /// The run has been armed. What the file begins with has been written when it returns.
    void begin();

    /// As LiveRecord::run() does.
    LiveRecord::End run(std::optional<std::uint64_t> duration, const StopSignal &stop);

    /// These have not returned.
    void running(const InFlightList &calls) { recorder_->running(calls.head, calls.calls); }

    /// Up to now calls were recorded.
    void end();

    /// Records what the rings still hold, and ends the file; an earlier file stays if this one would be empty. Returns the counts that
    /// it ends with.
    std::vector<argtrace_counts> finish();

    TraceWriter &writer() { return writer_; }

private:
    Run &run_;
    LiveSymbols symbols_;
    TraceWriter writer_;
    std::optional<Recorder> recorder_;
    std::optional<LiveRecord> live_;
    RecordedSpan span_{};
};

} // namespace argtrace
