// SPDX-License-Identifier: GPL-2.0-only
#include "live/trace.h"

#include <utility>

#include "model/return_way.h"
#include "session/in_flight.h"
#include "util/clock.h"
#include "util/message.h"
#include "util/nanoseconds.h"

namespace argtrace {

namespace {

// After events have come, more are likely: waiting a little for them costs less than a wake-up
// for each. Well below the time after which a person sees a delay.
constexpr std::uint64_t nap_ns = 5 * nanoseconds_per_millisecond;

constexpr std::uint64_t tree_nap_ns = 100 * nanoseconds_per_millisecond;

// The stacks of all tasks are unwound for it.
constexpr std::uint64_t look_ns = 250 * nanoseconds_per_millisecond;

// With this much of a ring in use there is no time for a nap.
constexpr double nap_pressure_max = 0.125;

} // namespace

LiveTrace::LiveTrace(const LiveSources &sources, bool own, Schema &schema, Renderer &renderer,
                     Output &output)
    : LiveLoop(sources, output.fd()), own_(own), schema_(schema),
      merge_(sources.rings.views(), schema, own ? Merge::Keep::nothing : Merge::Keep::unseen),
      renderer_(renderer), output_(output) {}

void LiveTrace::hide(std::set<std::uint32_t> pids) {
    hidden_ = std::move(pids);
    hidden_since_ = monotonic_now();
}

void LiveTrace::begin() {
    start_ = monotonic_now();
    renderer_.begin(output_.buffer(), start_);
    (void)output_.flush(); // a reader that has gone ends the first round
}

LiveTrace::End LiveTrace::run(const Limits &limits, const StopSignal &stop) {
    limits_ = limits;
    watching_ = tells_of_running() && renderer_.expect_running();
    const End end = run_rounds(start_, limits.duration, stop);
    if (end == End::abandoned)
        return end;
    running_.reset();
    next_look_ = 0;
    look(0);
    if (own_) {
        session().remove_all_on_load();
        session().remove_all();
    }
    follow_changes();
    if (!satisfied()) {
        merge_.collect_rest();
        if (!show())
            return End::abandoned;
    }
    if (!show_running(true))
        return End::abandoned;
    renderer_.end(output_.buffer());
    return flush() ? end : End::abandoned;
}

std::optional<LiveTrace::End> LiveTrace::round(const Now &now) {
    merge_.collect(now.clock);
    if (!show())
        return End::abandoned;
    if (renderer_.waiting()) {
        renderer_.advance(output_.buffer(), now.ns);
        if (!flush())
            return End::abandoned;
    }
    if (running_ && now.clock > running_->clock + ARGTRACE_CLOCK_SLACK && !show_running(false))
        return End::abandoned;
    look(now.ns);
    report_loss(now.ns);
    return satisfied() ? std::optional(End::reached) : std::nullopt;
}

/// At once when a ring fills, after a little when events come now and then.
std::optional<std::uint64_t> LiveTrace::next_round(std::uint64_t now) {
    if (merge_.pressure() > nap_pressure_max)
        return now;
    if (found_ || merge_.waiting())
        return now + nap_ns;
    if (renderer_.waiting() || watching_)
        return now + tree_nap_ns;
    return std::nullopt;
}

bool LiveTrace::is_hidden(const Event &event) const {
    return !hidden_.empty() && event.ts >= hidden_since_ && hidden_.contains(event.tgid);
}

/// Shows what the last round has to show. False when nobody reads it.
bool LiveTrace::show() {
    found_ = false;
    while (!satisfied()) {
        auto view = merge_.next();
        if (!view)
            break;
        if (is_hidden(*view->event))
            continue;
        renderer_.event(output_.buffer(), *view);
        if (view->event->has_unread) [[unlikely]]
            unread_.add(*view);
        ++shown_;
        found_ = true;
        if (output_.full()) {
            if (!flush())
                return false;
        }
    }
    return flush();
}

/// Whether the module tells of all of them: not of those that the kernel follows for it, and of none by their goroutines.
bool LiveTrace::tells_of_running() {
    bool unknown = false;
    schema_.for_each([&](const Probe &probe) { unknown = unknown || is_by_kernel(probe) || goroutine_value(probe); });
    return !unknown && read_in_flight(session(), schema_);
}

/// Finds out which calls have not returned. The renderer is told when it has all events up to then.
void LiveTrace::look(std::uint64_t now) {
    if (!watching_ || running_ || now < next_look_)
        return;
    next_look_ = now + look_ns;
    running_ = read_in_flight(session(), schema_);
    if (running_)
        std::erase_if(running_->batch.events, [this](const Event &event) { return is_hidden(event); });
}

bool LiveTrace::show_running(bool last) {
    if (!running_)
        return true;
    renderer_.still_running(output_.buffer(), *running_, last);
    running_.reset();
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

void LiveTrace::report_loss(std::uint64_t now) {
    const std::uint64_t lost = merge_.lost();
    if (lost == loss_reported_ || now < next_report_)
        return;
    message("{} calls lost: a ring was full", lost - loss_reported_);
    loss_reported_ = lost;
    next_report_ = now + nanoseconds_per_second;
}

} // namespace argtrace
