// SPDX-License-Identifier: GPL-2.0-only
#include "cli/live_record.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"
#include "util/nanoseconds.h"

namespace argtrace {

namespace {

// A round shall find about so much of a ring in use: seldom enough to be cheap, with room for
// a burst.
constexpr double pressure_wanted = 0.25;
constexpr double pressure_high = 0.5;

constexpr std::uint64_t nap_shortest = nanoseconds_per_millisecond;
constexpr std::uint64_t nap_longest = 100 * nanoseconds_per_millisecond;

} // namespace

LiveRecord::End LiveRecord::run(std::optional<std::uint64_t> duration, const StopSignal &stop) {
    const std::uint64_t start = monotonic_now();
    const std::uint64_t deadline =
        duration ? start + *duration : std::numeric_limits<std::uint64_t>::max();
    Progress progress(STDERR_FILENO, start);
    bool ended = false;
    for (std::uint64_t before = start;;) {
        const std::uint64_t now = monotonic_now();
        const bool found = recorder_.collect(now);
        if (progress.due(now))
            progress.tell(now, fmt::format("{:.1f} MiB recorded, {} calls lost",
                                           static_cast<double>(writer_.written()) / (1 << 20),
                                           recorder_.lost()));
        if (abandoned_)
            throw Error(
                fmt::format("{}: nobody reads it any more: recording ends", writer_.name()));
        ended = processes_ && processes_->ended();
        if (removed_ || stop.requested() || now >= deadline || (command_ && command_->ended()) ||
            ended)
            break;
        wait(stop, before, deadline, found);
        before = now;
    }
    progress.clear();
    return removed_ ? End::removed : ended ? End::ended : End::reached;
}

/// Until it is worth looking at the rings again: after traffic so long that a ring fills up to a
/// quarter if that goes on, without any until there is an event.
void LiveRecord::wait(const StopSignal &stop, std::uint64_t before, std::uint64_t deadline,
                      bool found) {
    const double pressure = recorder_.pressure();
    if (pressure > pressure_high)
        return;
    const std::uint64_t now = monotonic_now();
    const std::optional<std::uint64_t> due = recorder_.due();
    const bool nap = found || due;
    std::uint64_t until = deadline;
    if (nap) {
        const double filled_in = static_cast<double>(now - before);
        const double length = pressure > 0 ? filled_in * pressure_wanted / pressure : 0;
        until =
            now + static_cast<std::uint64_t>(std::clamp(length, static_cast<double>(nap_shortest),
                                                        static_cast<double>(nap_longest)));
        if (due)
            until = std::min(until, std::max(*due, now + nap_shortest));
        until = std::min(until, deadline);
    }
    int timeout = -1;
    if (until != std::numeric_limits<std::uint64_t>::max())
        timeout = static_cast<int>(std::min<std::uint64_t>(
            (until - std::min(until, now) + nanoseconds_per_millisecond - 1) /
                nanoseconds_per_millisecond,
            std::numeric_limits<int>::max()));

    std::array<pollfd, 5> files{{
        {stop.fd(), POLLIN, 0},
        {writer_.fd(), 0, 0},                        // POLLERR: the reader of the pipe has gone
        {command_ ? command_->fd() : -1, POLLIN, 0}, // it has ended
        {processes_ ? processes_->fd() : -1, POLLIN, 0},
        {session_.fd(), POLLIN, 0},
    }};
    ::poll(files.data(), nap ? 4 : 5, timeout);
    abandoned_ = files[1].revents & POLLERR;
    removed_ = files[4].revents & (POLLHUP | POLLERR);
}

} // namespace argtrace
