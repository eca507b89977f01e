// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "export/exporter.h"
#include "render/trace_stats.h"
#include "render/unread_values.h"
#include "report/block_writer.h"
#include "report/recorded_choice.h"
#include "report/time_order.h"
#include "report/trace_aggregation.h"
#include "report/trace_reader.h"
#include "report/trace_waits.h"
#include "util/progress.h"

namespace argtrace {

/// A trace on its way to the output.
class ReportOutput {
public:
    /// `size` is that of the file, where it is known. `output` may be null for export_events(), and `done` is what the
    /// summary says has become of the events.
    ReportOutput(TraceReader &reader, std::string name, std::optional<std::uint64_t> size,
                 Output *output, std::string done = "shown");

    /// Both are false when nobody reads the output any more.
    bool show_events(WorkerPool &workers, const BlockWriter::MakeRenderer &make,
                     std::optional<std::uint64_t> max_events);
    /// The same, by one thread and as one stream, for a renderer that keeps events.
    bool show_stream(Renderer &renderer, std::optional<std::uint64_t> max_events);

    bool show_stats(bool json, const EventFilter &filter);

    /// Hands all events to the exporter.
    void export_events(Exporter &exporter, std::optional<std::uint64_t> max_events);

    /// Goes through all of it, and adds up, or pairs, its calls.
    Aggregation add_up(TraceAggregation &aggregation);
    void add_up(TraceAggregation &aggregation, TraceIntervals &intervals);
    /// The intervals may be null.
    void pair(TracePairing &pairing, TraceIntervals *intervals);

    /// Goes through all of it, and makes waits of its switches.
    void look_at(TraceWaits &waits);

    /// A sentence for each of the functions named that the trace does not have; the trace must have
    /// been read to its end.
    std::vector<std::string> unknown_functions(const EventFilter &filter) const;

    /// The object that ends events in JSON. False as above.
    bool show_summary_json();

    /// On stderr: what was shown, lost, and is wrong with the file.
    void print_summary();
    /// Where nothing was shown of the processes or threads that are meant, says whose numbers a recording has.
    void tell_pids(const EventFilter &filter) const;
    /// The part of it that says what is wrong with the file.
    void print_damage();
    void set_done(std::string done) { done_ = std::move(done); }

    /// What became of all calls, as far as the file tells, and has been read up to there.
    std::optional<argtrace_counts> total() const;
    /// The same for calls of the functions that are meant.
    std::optional<argtrace_counts> total(const RecordedChoice &choice) const;

    /// Something is wrong with the file.
    bool damaged() const { return reader_.fault_count() > 0 || unreadable() > 0; }

private:
    std::uint64_t unreadable() const;
    void take_duration(TraceStats &stats, const EventFilter &filter) const;
    void print_counts() const;
    void print_running() const;
    void print_faults() const;
    void show_progress();
    bool wants_more(const TimeOrder::Packet &packet, const Event &event, std::optional<std::uint64_t> max_events);

    TraceReader &reader_;
    std::string name_;
    Output *output_;
    std::string done_;
    std::uint64_t shown_ = 0;
    UnreadValues unread_; // of events that were shown
    bool satisfied_ = false; // as many as were asked for; the rest has not been read
    std::optional<std::uint64_t> size_;
    Progress progress_;
};

} // namespace argtrace
