// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>

#include "cli/child_command.h"
#include "cli/process_watch.h"
#include "cli/stop_signal.h"
#include "record/recorder.h"
#include "session/session.h"
#include "util/progress.h"

namespace argtrace {

/// Records a session while its events happen.
class LiveRecord {
public:
    enum class End {
        reached, ///< the time is over, the command has ended, or the user stopped it
        ended,   ///< the processes have
        removed, ///< the session was removed
    };

    /// `command` may be null, and so may `processes`: those after whose end nothing will come.
    LiveRecord(Session &session, Recorder &recorder, TraceWriter &writer, ChildCommand *command,
               ProcessWatch *processes)
        : session_(session), recorder_(recorder), writer_(writer), command_(command),
          processes_(processes) {}

    /// Until one of these; what the rings still hold then is left to the caller. `duration` in ns.
    /// Throws Error when the file cannot be written.
    End run(std::optional<std::uint64_t> duration, const StopSignal &stop);

private:
    void wait(const StopSignal &stop, std::uint64_t before, std::uint64_t deadline, bool found);

    Session &session_;
    Recorder &recorder_;
    TraceWriter &writer_;
    ChildCommand *command_;
    ProcessWatch *processes_;
    bool removed_ = false;
    bool abandoned_ = false;
};

} // namespace argtrace
