// SPDX-License-Identifier: GPL-2.0-only
#include "live/loop.h"

#include <algorithm>
#include <array>
#include <limits>

#include <poll.h>

#include "abi/architecture.h"
#include "util/clock.h"
#include "util/nanoseconds.h"

namespace argtrace {

namespace {

/// While tables are made: well below ARGTRACE_TABLE_WAIT_MS.
constexpr std::uint64_t sign_of_life = 200 * nanoseconds_per_millisecond;

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

/// For poll(): rounded up, so that it does not return just before the time.
int milliseconds_until(std::uint64_t time, std::uint64_t now) {
    if (time == never)
        return -1;
    if (time <= now)
        return 0;
    const std::uint64_t milliseconds =
        (time - now + nanoseconds_per_millisecond - 1) / nanoseconds_per_millisecond;
    return static_cast<int>(std::min<std::uint64_t>(milliseconds, std::numeric_limits<int>::max()));
}

/// The clock of a session (ARGTRACE_CLOCK_*), as its records have it.
std::uint64_t clock_now(std::uint32_t clock) {
    const auto counter = native_architecture().counter;
    return clock == ARGTRACE_CLOCK_TSC && counter ? counter() : monotonic_now();
}

} // namespace

LiveLoop::End LiveLoop::run_rounds(std::uint64_t start, std::optional<std::uint64_t> duration,
                                   const StopSignal &stop) {
    const std::uint64_t deadline = duration ? start + *duration : never;
    for (;;) {
        // In this order: a ring that is not seen has no event that is older than this round.
        const Now now{monotonic_now(), clock_now(session().attributes().clock)};
        follow_changes();
        if (const auto end = round(now))
            return *end;
        if (const auto end = reason_to_end(deadline, stop))
            return *end;
        wait(deadline, stop);
        if (abandoned_)
            return End::abandoned;
    }
}

void LiveLoop::follow_changes() {
    const bool has_changed = session().has_changed() || changed_;
    changed_ = false;
    if (has_changed) {
        add(sources_.rings.map_new());
        sources_.modules.follow();
    }
    // Processes wait for tables that are being made, as long as the module hears of us.
    if (has_changed || session().is_making_tables())
        if (UserObjects *objects = session().objects())
            objects->follow();
}

std::optional<LiveLoop::End> LiveLoop::reason_to_end(std::uint64_t deadline,
                                                     const StopSignal &stop) const {
    if (removed_)
        return End::removed;
    if (sources_.processes && sources_.processes->ended())
        return End::ended;
    if (stop.requested() || monotonic_now() >= deadline ||
        (sources_.command && sources_.command->ended()))
        return End::reached;
    return std::nullopt;
}

/// Until the next round. While that is only a matter of time, events need not wake us.
void LiveLoop::wait(std::uint64_t deadline, const StopSignal &stop) {
    const std::uint64_t now = monotonic_now();
    const std::optional<std::uint64_t> due = next_round(now);
    if (due && *due <= now)
        return;
    const auto events = static_cast<short>(due ? POLLPRI : POLLIN | POLLPRI);
    std::array<pollfd, 5> files{{
        {sources_.session.fd(), events, 0},
        {output_, 0, 0}, // POLLERR: the reader of the pipe has gone
        {stop.fd(), POLLIN, 0},
        {sources_.command ? sources_.command->fd() : -1, POLLIN, 0}, // it has ended
        {sources_.processes ? sources_.processes->fd() : -1, POLLIN, 0},
    }};
    ::poll(files.data(), files.size(),
           milliseconds_until(std::min({due.value_or(never), deadline, session().is_making_tables() ? now + sign_of_life : never}), now));
    changed_ = files[0].revents & POLLPRI;
    removed_ = files[0].revents & (POLLHUP | POLLERR);
    abandoned_ = files[1].revents & POLLERR;
}

} // namespace argtrace
