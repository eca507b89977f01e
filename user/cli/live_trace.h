// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>

#include "cli/child_command.h"
#include "cli/process_watch.h"
#include "cli/stop_signal.h"
#include "render/renderer.h"
#include "session/merge.h"
#include "session/session.h"
#include "util/output.h"

namespace argtrace {

/// A session's events on their way to the output, while they happen.
class LiveTrace {
public:
    struct Limits {
        std::optional<std::uint64_t> events;
        std::optional<std::uint64_t> duration; ///< nanoseconds
    };

    /// We are the session's reader, and `rings` are its rings. `own`: nobody will read the
    /// session after us. `command` ends it, and so do `processes`, after whose end nothing will
    /// come; both may be null.
    LiveTrace(Session &session, std::span<const RingView> rings, bool own, ChildCommand *command,
              ProcessWatch *processes, Schema &schema, Renderer &renderer, Output &output);

    enum class End {
        reached,   ///< a limit, the command has ended, or the user stopped it
        ended,     ///< the processes have
        removed,   ///< the session was removed
        abandoned, ///< nobody reads the output any more
    };

    /// Shows events until a limit is reached, `stop` is requested, or the session is removed,
    /// and then what is still in the rings. A session of our own is disarmed before that.
    End run(const Limits &limits, const StopSignal &stop);

    /// Those that have been written out.
    std::uint64_t shown() const { return written_; }
    Unreadable unreadable() const { return merge_.unreadable(); }

private:
    bool show();
    bool flush();
    bool satisfied() const { return limits_.events && shown_ >= *limits_.events; }
    bool idle(const StopSignal &stop);
    void report_loss();

    Session &session_;
    bool own_;
    ChildCommand *command_;
    ProcessWatch *processes_;
    Merge merge_;
    Renderer &renderer_;
    Output &output_;
    Limits limits_;
    std::uint64_t deadline_ = 0;
    std::uint64_t shown_ = 0;
    std::uint64_t written_ = 0;
    bool found_ = false;   // the last round showed something
    bool removed_ = false; // the session is gone
    std::uint64_t loss_reported_ = 0;
    std::uint64_t next_report_ = 0;
};

} // namespace argtrace
