// SPDX-License-Identifier: GPL-2.0-only
#include "live/aggregate_rounds.h"

#include <utility>

#include "util/nanoseconds.h"

namespace argtrace {

AggregateRounds::AggregateRounds(const AggregateOptions &options, AggregateOutput &output,
                                 std::function<Aggregation()> read)
    : options_(options), output_(output), read_(std::move(read)) {}

void AggregateRounds::begin(std::uint64_t now) {
    if (options_.interval)
        next_ = now + *options_.interval;
    else if (output_.is_screen())
        next_ = now + nanoseconds_per_second;
}

std::optional<LiveLoop::End> AggregateRounds::round(std::uint64_t now) {
    if (!next_ || now < *next_)
        return std::nullopt;
    const std::uint64_t step = options_.interval.value_or(nanoseconds_per_second);
    // One that was missed is not made up for.
    *next_ += (now - *next_) / step * step + step;
    if (!options_.interval)
        return output_.show_state(read_()) ? std::nullopt
                                           : std::optional(LiveLoop::End::abandoned);
    if (++rounds_ == options_.rounds)
        return LiveLoop::End::reached; // finish() shows it, with what comes until nothing is traced any more
    Aggregation all = read_();
    const bool shown = output_.show_interval(all.since(shown_), now);
    shown_ = std::move(all);
    return shown ? std::nullopt : std::optional(LiveLoop::End::abandoned);
}

bool AggregateRounds::finish(std::uint64_t now) {
    const Aggregation all = read_();
    if (!options_.interval)
        return output_.show(all);
    const Aggregation rest = all.since(shown_);
    const bool is_due = rounds_ == options_.rounds; // else an interval has been cut short
    return (rest.entries().empty() && !is_due) || output_.show_interval(rest, now);
}

} // namespace argtrace
