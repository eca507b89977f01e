// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "live/child_command.h"
#include "live/process_watch.h"
#include "live/stop_signal.h"
#include "live/unloaded_modules.h"
#include "session/live_rings.h"
#include "session/session.h"

namespace argtrace {

/// What `trace` and `record` work with. All of it stays the caller's.
struct LiveSources {
    Session &session;
    LiveRings &rings;
    UnloadedModules &modules;
    ChildCommand *command;   ///< ends it; may be null
    ProcessWatch *processes; ///< after their end nothing will come; may be null
};

/// Reads a session while its events happen: in rounds, between which it waits. Meanwhile it takes
/// notice of CPUs that come, and tells of modules that go.
class LiveLoop {
public:
    enum class End {
        reached,   ///< a limit, the command has ended, or the user stopped it
        ended,     ///< the processes have
        removed,   ///< the session was removed
        abandoned, ///< nobody reads the output any more
    };

    virtual ~LiveLoop() = default;

protected:
    /// `output`: the events go there.
    LiveLoop(const LiveSources &sources, int output) : sources_(sources), output_(output) {}

    struct Now {
        std::uint64_t ns;    ///< CLOCK_MONOTONIC
        std::uint64_t clock; ///< of the session's records
    };

    /// Reads these rings as well from now on.
    virtual void add(std::span<const RingView> rings) = 0;

    /// Handles what the rings hold. `now` has been read before. How it ends, if it does.
    virtual std::optional<End> round(const Now &now) = 0;

    /// When the next round is due (ns): at once if that is over; nothing: once there is an event.
    virtual std::optional<std::uint64_t> next_round(std::uint64_t now) = 0;

    /// Rounds until one of the ends. `duration` in ns. What the rings hold after that is left to
    /// the caller.
    End run_rounds(std::uint64_t start, std::optional<std::uint64_t> duration,
                   const StopSignal &stop);

    /// Takes notice of rings that have come and of modules that have gone.
    void follow_changes();

    Session &session() { return sources_.session; }

private:
    std::optional<End> reason_to_end(std::uint64_t deadline, const StopSignal &stop) const;
    void wait(std::uint64_t deadline, const StopSignal &stop);

    LiveSources sources_;
    int output_;
    bool changed_ = false;   // poll() said so
    bool removed_ = false;   // the session is gone
    bool abandoned_ = false; // nobody reads the output any more
};

} // namespace argtrace
