// SPDX-License-Identifier: GPL-2.0-only
#include "cli/live_trace.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <poll.h>

#include "util/clock.h"
#include "util/message.h"
#include "util/nanoseconds.h"

namespace argtrace {

namespace {

// After events have come, more are likely: waiting a little for them costs less than a wake-up
// for each. Well below the time after which a person sees a delay.
constexpr std::uint64_t nap_ns = 5 * nanoseconds_per_millisecond;

// With this much of a ring in use there is no time for a nap.
constexpr double nap_pressure_max = 0.125;

/// For poll(): rounded up, so that it does not return just before the time.
int milliseconds_until(std::uint64_t time, std::uint64_t now) {
    if (time <= now)
        return 0;
    std::uint64_t milliseconds =
        (time - now + nanoseconds_per_millisecond - 1) / nanoseconds_per_millisecond;
    return static_cast<int>(std::min<std::uint64_t>(milliseconds, std::numeric_limits<int>::max()));
}

/// The clock of a session (ARGTRACE_CLOCK_*), as its records have it.
std::uint64_t clock_now(std::uint32_t clock) {
#if defined(__x86_64__)
    if (clock == ARGTRACE_CLOCK_TSC)
        return __builtin_ia32_rdtsc();
#endif
    return monotonic_now();
}

} // namespace

LiveTrace::LiveTrace(Session &session, std::span<const RingView> rings, bool own,
                     ChildCommand *command, ProcessWatch *processes, Schema &schema,
                     Renderer &renderer, Output &output)
    : session_(session), own_(own), command_(command), processes_(processes),
      merge_(rings, schema, own ? Merge::Keep::nothing : Merge::Keep::unseen), renderer_(renderer),
      output_(output) {}

LiveTrace::End LiveTrace::run(const Limits &limits, const StopSignal &stop) {
    limits_ = limits;
    std::uint64_t start = monotonic_now();
    deadline_ =
        limits.duration ? start + *limits.duration : std::numeric_limits<std::uint64_t>::max();
    renderer_.begin(output_.buffer(), start);
    bool ended = false;
    for (;;) {
        merge_.collect(clock_now(session_.attributes().clock));
        if (!show())
            return End::abandoned;
        report_loss();
        ended = processes_ && processes_->ended();
        if (satisfied() || removed_ || stop.requested() || monotonic_now() >= deadline_ ||
            (command_ && command_->ended()) || ended)
            break;
        if (!idle(stop))
            return End::abandoned;
    }
    if (own_) {
        session_.remove_all_on_load();
        session_.remove_all();
    }
    if (!satisfied()) {
        merge_.collect_rest();
        if (!show())
            return End::abandoned;
    }
    return removed_ ? End::removed : ended && !satisfied() ? End::ended : End::reached;
}

/// Shows what the last round has to show. False when nobody reads it.
bool LiveTrace::show() {
    found_ = false;
    while (!satisfied()) {
        auto view = merge_.next();
        if (!view)
            break;
        renderer_.event(output_.buffer(), *view);
        ++shown_;
        found_ = true;
        if (output_.full()) {
            if (!flush())
                return false;
        }
    }
    return flush();
}

/// Writes what has been rendered, and gives back the room that it took in the rings.
bool LiveTrace::flush() {
    if (!output_.flush())
        return false;
    written_ = shown_;
    merge_.release();
    return true;
}

/// Waits for more: not at all when a ring fills, a little when events come now and then, else
/// until one does. False when nobody reads the output any more.
bool LiveTrace::idle(const StopSignal &stop) {
    if (merge_.pressure() > nap_pressure_max)
        return true;
    std::uint64_t now = monotonic_now();
    bool nap = found_ || merge_.waiting();
    int timeout = -1;
    if (nap || limits_.duration)
        timeout = milliseconds_until(nap ? std::min(now + nap_ns, deadline_) : deadline_, now);

    std::array<pollfd, 5> files{{
        {stop.fd(), POLLIN, 0},
        {output_.fd(), 0, 0}, // POLLERR: the reader of the pipe has gone
        {command_ ? command_->fd() : -1, POLLIN, 0},
        {processes_ ? processes_->fd() : -1, POLLIN, 0},
        {session_.fd(), POLLIN, 0},
    }};
    ::poll(files.data(), nap ? 4 : 5, timeout);
    removed_ = files[4].revents & (POLLHUP | POLLERR);
    return !(files[1].revents & POLLERR);
}

void LiveTrace::report_loss() {
    std::uint64_t lost = merge_.lost();
    if (lost == loss_reported_)
        return;
    std::uint64_t now = monotonic_now();
    if (now < next_report_)
        return;
    message("{} calls lost: a ring was full", lost - loss_reported_);
    loss_reported_ = lost;
    next_report_ = now + nanoseconds_per_second;
}

} // namespace argtrace
