// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "live/child_command.h"
#include "live/loop.h"
#include "live/process_watch.h"
#include "live/profile_timer.h"
#include "live/tracing.h"
#include "live/unloaded_modules.h"
#include "session/live_rings.h"
#include "session/session.h"
#include "session/tracing_options.h"
#include "spec/kernel.h"

namespace argtrace {

/// Which calls a session records, and where COMMAND may write.
struct Reading {
    bool own_calls = false;       ///< also those that argtrace makes
    bool stdout_is_taken = false; ///< what COMMAND writes goes to stderr
    bool streams = false;         ///< events go to stdout, through processes that would cause more of them
    bool all_processes = false;   ///< the reader of the records looks after -p, not the module
};

/// A session that is read until it ends, and what comes to an end with it: COMMAND, the processes of -p, and functions whose module is
/// unloaded. It is made, or attached to; then armed; then COMMAND is started.
class Run {
public:
    /// Opens the device, and finds the processes of -p. Throws Error. The options stay the caller's.
    explicit Run(const TracingOptions &options);

    // Both fork COMMAND, which then waits for start_command(), and map the rings.

    /// Makes a session without a name. Throws Error.
    void create(const SessionOptions &wished, const Reading &reading);

    /// Makes a session for the functions of the options, and returns those; without any attaches to that of `add`. Throws Error, which
    /// names `argtrace COMMAND`, if that has no functions or is a flight recorder.
    Wanted open(const Request &request, const char *command, const Reading &reading);

    // These arm the probes, and throw Error as add_wanted(), add_followed() and add_timer() do.

    void arm(Wanted &wanted);
    void arm(std::vector<Probe> &probes);
    TickWatch arm(const TimerChoice &choice, Probe &probe);

    /// Shortly before it was armed, and when it was (CLOCK_MONOTONIC, ns).
    std::uint64_t arming() const { return arming_; }
    std::uint64_t armed() const { return armed_; }

    /// Starts COMMAND, if there is one. Throws ExitStatus, with a shell's status, when it cannot be run.
    void start_command();

    /// For a LiveLoop, once it is armed.
    LiveSources sources();

    /// Says on stderr what has ended it, if that was neither a limit nor COMMAND.
    void tell_end(LiveLoop::End end) const;

    /// Throws ExitStatus with the status of COMMAND, if there is one.
    void exit_as_command();

    /// The processes of -p, and COMMAND's if it is to be followed; nothing if neither was asked for.
    std::optional<ProcessFilter> processes() const;

    Session &session() { return session_; }
    const Session &session() const { return session_; }
    Kernel &kernel() { return kernel_; }
    LiveRings &rings() { return *rings_; }
    UnloadedModules &modules() { return *modules_; }

private:
    void begin_reading(const Reading &reading);
    void expect_code();
    void choose_processes(bool streams);
    void note_armed();

    const TracingOptions &options_;
    Session session_;
    ProcessWatch watch_;
    Kernel kernel_;
    std::optional<ChildCommand> command_;
    std::optional<LiveRings> rings_;
    std::optional<UnloadedModules> modules_;
    std::uint64_t arming_ = 0, armed_ = 0;
};

} // namespace argtrace
