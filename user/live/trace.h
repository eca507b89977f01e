// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "live/loop.h"
#include "model/running_calls.h"
#include "render/renderer.h"
#include "render/unread_values.h"
#include "session/merge.h"
#include "util/output.h"

namespace argtrace {

/// A session's events on their way to the output, while they happen.
class LiveTrace : private LiveLoop {
public:
    struct Limits {
        std::optional<std::uint64_t> events;
        std::optional<std::uint64_t> duration; ///< nanoseconds
    };

    using LiveLoop::End;

    /// We are the session's reader. `own`: nobody will read the session after us.
    LiveTrace(const LiveSources &sources, bool own, Schema &schema, Renderer &renderer,
              Output &output);

    /// Events of these processes that happen from now on are not shown.
    void hide(std::set<std::uint32_t> pids);

    /// Shows the line of column names, if there is one: before COMMAND is started, which may write to the same terminal.
    void begin();

    /// Shows events until a limit is reached, `stop` is requested, or the session is removed,
    /// and then what is still in the rings. Follows begin(). A session of our own is disarmed before that.
    End run(const Limits &limits, const StopSignal &stop);

    /// Those that have been written out.
    std::uint64_t shown() const { return written_; }
    Unreadable unreadable() const { return merge_.unreadable(); }
    /// The values of events that could not be read when the calls were made.
    const UnreadValues &unread_values() const { return unread_; }

private:
    void add(std::span<const RingView> rings) override { merge_.add(rings); }
    std::optional<End> round(const Now &now) override;
    std::optional<std::uint64_t> next_round(std::uint64_t now) override;

    bool is_hidden(const Event &event) const;
    bool show();
    bool show_running(bool last);
    bool tells_of_running();
    void look(std::uint64_t now);
    bool flush();
    bool satisfied() const { return limits_.events && shown_ >= *limits_.events; }
    void report_loss(std::uint64_t now);

    std::uint64_t start_ = 0; ///< when it began: CLOCK_MONOTONIC, ns
    bool own_;
    const Schema &schema_;
    Merge merge_;
    Renderer &renderer_;
    Output &output_;
    Limits limits_;
    std::set<std::uint32_t> hidden_; // processes,
    std::uint64_t hidden_since_ = 0; // whose earlier events are shown
    std::uint64_t shown_ = 0;
    std::uint64_t written_ = 0;
    UnreadValues unread_; // of those that were shown
    bool watching_ = false;               // the renderer is told of calls that have not returned
    std::optional<RunningCalls> running_; // those that it is to be told of next
    std::uint64_t next_look_ = 0;
    bool found_ = false; // the last round showed something
    std::uint64_t loss_reported_ = 0;
    std::uint64_t next_report_ = 0;
};

} // namespace argtrace
