// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/aggregation.h"
#include "analyze/event_keys.h"
#include "analyze/pairing.h"
#include "btf/format.h"
#include "render/key_text.h"
#include "report/trace_intervals.h"
#include "report/trace_reader.h"
#include "report/trace_waits.h"
#include "spec/spec.h"

namespace argtrace {

/// Which events are meant.
using EventChoice = std::function<bool(const EventView &)>;

/// Adds up the calls of a trace as a map would have added them up when they were made.
class TraceAggregation {
public:
    /// `value` as EventKeys has it. The reader stays the caller's.
    TraceAggregation(TraceReader &reader, std::vector<RecordedValue> keys, std::optional<RecordedValue> value, Buckets buckets);

    /// The probes whose events are added up, and which of these are; the others are as if they were not there. All are if this is not
    /// called.
    using ProbeChoice = std::function<bool(const Probe &)>;
    void choose(ProbeChoice probes, EventChoice events) {
        probe_choice_ = std::move(probes);
        choice_ = std::move(events);
    }

    /// Goes through the trace; `tell` is called now and then, for progress. Throws Error when the values do not go with the buckets.
    Aggregation run(const std::function<void()> &tell);

    /// The same in the order of time: at the end of an interval, take() is what has come in it.
    void run(TraceIntervals &intervals, const std::function<void()> &tell);
    Aggregation take();

    /// How the keys are shown; they stay valid as long as this.
    std::vector<KeyColumn> columns();

    /// Calls that have been added up, and by function those that have not recorded what was asked for.
    std::uint64_t calls() const { return calls_; }
    const std::map<std::string, std::uint64_t> &left_out() const { return left_out_; }
    /// Which of the values the first of them lacks; empty: there are none.
    std::string_view describe_missing() const;

private:
    void begin();
    void add(const EventView &view);
    std::vector<const Probe *> probes_with_keys();
    std::vector<std::uint32_t> key_lengths();
    Buckets buckets();

    TraceReader &reader_;
    std::vector<RecordedValue> names_;
    EventKeys keys_;
    ProbeChoice probe_choice_ = [](const Probe &) { return true; };
    EventChoice choice_;
    Buckets wanted_;
    std::optional<Aggregation> all_; // since take()
    std::uint64_t calls_ = 0;
    std::map<std::string, std::uint64_t> left_out_; // by function
    std::string missing_;                           // what the first of them lacks
    std::unique_ptr<ProbeFormats> formats_;
};

/// Pairs the calls of a trace, which has been surveyed: see Pairing.
class TracePairing {
public:
    TracePairing(TraceReader &reader, const TraceSurvey &survey, Pairing pairing, Spec from, Spec to);

    /// As TraceAggregation::choose().
    void choose(EventChoice choice) { choice_ = std::move(choice); }

    /// At the end of an interval, if there are any, the pairs are those up to there.
    void run(TraceIntervals *intervals, const std::function<void()> &tell);

    const Pairing &pairing() const { return pairing_; }

private:
    void add(const EventView &view);

    TraceReader &reader_;
    Pairing pairing_;
    Spec from_, to_;
    EventChoice choice_;
};

/// How many calls that is.
std::uint64_t calls_of(const std::map<std::string, std::uint64_t> &functions);

/// A sentence about calls, by function, that have not recorded `missing`; empty: there are none.
std::string describe_left_out(const std::map<std::string, std::uint64_t> &functions, std::string_view missing, const Schema &schema);

/// Which values the functions of a trace have recorded, for an error: "file, count, ret".
std::string list_recorded_values(const Schema &schema);

} // namespace argtrace
