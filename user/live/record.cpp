// SPDX-License-Identifier: GPL-2.0-only
#include "live/record.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "model/counts.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/message.h"
#include "util/nanoseconds.h"

namespace argtrace {

namespace {

// The share of a ring that should be in use when a round begins: rounds are rare enough to be
// cheap, and leave room for a burst.
constexpr double pressure_wanted = 0.25;
constexpr double pressure_high = 0.5;

constexpr std::uint64_t nap_shortest = nanoseconds_per_millisecond;
constexpr std::uint64_t nap_longest = 100 * nanoseconds_per_millisecond;

} // namespace

LiveRecord::End LiveRecord::run(std::optional<std::uint64_t> duration, const StopSignal &stop) {
    last_round_ = monotonic_now();
    progress_.emplace(STDERR_FILENO, last_round_);
    const End end = run_rounds(last_round_, duration, stop);
    if (end == End::abandoned)
        throw Error(fmt::format("{}: nobody reads it any more: recording ends", writer_.name()));
    progress_->clear();
    return end;
}

void LiveRecord::finish() {
    follow_changes();
    recorder_.collect_rest();
}

std::optional<LiveRecord::End> LiveRecord::round(const Now &now) {
    filled_in_ = now.ns - last_round_;
    last_round_ = now.ns;
    found_ = recorder_.collect(now.ns);
    if (progress_->due(now.ns))
        progress_->tell(now.ns, fmt::format("{:.1f} MiB recorded, {} calls lost",
                                            static_cast<double>(writer_.written()) / (1 << 20),
                                            recorder_.lost()));
    return std::nullopt;
}

/// After traffic when a ring is filled up to a quarter if that goes on.
std::optional<std::uint64_t> LiveRecord::next_round(std::uint64_t now) {
    const double pressure = recorder_.pressure();
    if (pressure > pressure_high)
        return now;
    const std::optional<std::uint64_t> due = recorder_.due();
    if (!found_ && !due)
        return std::nullopt;
    const double length =
        pressure > 0 ? static_cast<double>(filled_in_) * pressure_wanted / pressure : 0;
    const std::uint64_t after =
        now + static_cast<std::uint64_t>(std::clamp(length, static_cast<double>(nap_shortest),
                                                    static_cast<double>(nap_longest)));
    return due ? std::min(after, std::max(*due, now + nap_shortest)) : after;
}

Recording::Recording(Run &run, TraceTarget target, std::optional<int> compression, const TraceInfo &info)
    : run_(run), symbols_(run.session()), writer_(std::move(target), compression) {
    writer_.info(info);
}

void Recording::begin() {
    const Session &session = run_.session();
    span_.begin = run_.armed();
    recorder_.emplace(
        run_.rings().views(), session.attributes().format, [&session] { return session.probes(true); }, symbols_, writer_);
    writer_.flush();
    live_.emplace(run_.sources(), *recorder_, writer_);
}

LiveRecord::End Recording::run(std::optional<std::uint64_t> duration, const StopSignal &stop) {
    return live_->run(duration, stop);
}

void Recording::end() {
    span_.end = monotonic_now();
}

std::vector<argtrace_counts> Recording::finish() {
    live_->finish();
    std::vector<argtrace_counts> counts = run_.session().counts(true);
    writer_.counts(counts);
    writer_.loss(recorder_->loss());
    writer_.span(span_);
    writer_.end();
    writer_.flush();
    TraceTarget &target = writer_.target();
    if (target.replaces() && lost_total(total_of(counts)) == 0)
        message("no call was recorded: {} stays as it was, with an earlier recording", target.name());
    else
        target.keep();
    return counts;
}

} // namespace argtrace
