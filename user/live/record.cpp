// SPDX-License-Identifier: GPL-2.0-only
#include "live/record.h"

#include <algorithm>

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

void finish_recording(TraceWriter &writer, const std::vector<argtrace_counts> &counts, const Recorder &recorder,
                      const RecordedSpan &span) {
    writer.counts(counts);
    writer.loss(recorder.loss());
    writer.span(span);
    writer.end();
    writer.flush();
    TraceTarget &target = writer.target();
    if (target.replaces() && lost_total(total_of(counts)) == 0)
        message("no call was recorded: {} stays as it was, with an earlier recording", target.name());
    else
        target.keep();
}

} // namespace argtrace
