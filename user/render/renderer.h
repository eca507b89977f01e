// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/event.h"
#include "model/running_calls.h"
#include "render/line.h"

namespace argtrace {

/// The longest name that the kernel gives a task: where it is narrower, nearly every trace has one
/// that moves all columns behind it.
inline constexpr std::size_t comm_width = 15;

/// How many characters each column takes.
struct Widths {
    std::size_t time = 0;
    std::size_t comm = 0;
    std::size_t tid = 0;
    std::size_t cpu = 0;

    /// Makes room for that event, too.
    void include(const Event &event);

    /// Makes room for what fits there. True when that took any.
    bool include(const Widths &other);
};

/// Events -> lines.
class Renderer {
public:
    virtual ~Renderer() = default;

    /// Appends what stands before the first event; `now` is the clock of the events.
    virtual void begin(std::string &out, std::uint64_t now) = 0;

    /// Makes room for events of these widths from here on.
    virtual void widen(const Widths &) {}

    /// The time of the event before the next one, where another renderer has written it.
    virtual void follow(std::uint64_t) {}

    /// Appends one event, as a line, or keeps it until more is known.
    virtual void event(Line &out, const EventView &view) = 0;

    /// Some are kept: advance() has to be called now and then, with the time of the events' clock up
    /// to which all of them have come, and end() behind the last one.
    virtual bool waiting() const { return false; }
    virtual void advance(std::string &, std::uint64_t) {}
    virtual void end(std::string &) {}

    /// From now on still_running() says now and then which calls have not returned, behind all events up to that moment. False: it
    /// has no use for them.
    virtual bool expect_running() { return false; }
    /// `last`: nothing will follow but end().
    virtual void still_running(std::string &, const RunningCalls &, [[maybe_unused]] bool last) {}

    void event(std::string &out, const EventView &view) {
        line_.clear();
        event(line_, view);
        out += line_.view();
    }

private:
    Line line_;
};

} // namespace argtrace
