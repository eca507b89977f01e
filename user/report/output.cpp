// SPDX-License-Identifier: GPL-2.0-only
#include "report/output.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "analyze/duration_histogram.h"
#include "analyze/self_times.h"
#include "model/counts.h"
#include "model/in_flight.h"
#include "model/result.h"
#include "render/status.h"
#include "render/trace_stats.h"
#include "report/export_feed.h"
#include "report/in_time_order.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/message.h"
#include "util/near_match.h"
#include "util/visible.h"

namespace argtrace {

namespace {

std::string at_byte(const FileFault &fault) {
    return fmt::format("at byte {}: {}", fault.offset, describe(fault.status));
}

} // namespace

ReportOutput::ReportOutput(TraceReader &reader, std::string name, std::optional<std::uint64_t> size,
                           Output *output, std::string done)
    : reader_(reader), name_(std::move(name)), output_(output), done_(std::move(done)), size_(size),
      progress_(STDERR_FILENO, monotonic_now()) {
    if (output && ::isatty(output->fd()))
        progress_.disable(); // the events themselves show how it goes
}

bool ReportOutput::show_events(WorkerPool &workers, const BlockWriter::MakeRenderer &make,
                               std::optional<std::uint64_t> max_events) {
    BlockWriter writer(workers, reader_.symbols(), make, *output_);
    writer.begin(reader_.info().begin_monotonic);
    bool gone = false;
    const auto see = [&writer](const DecodedPacket &packet) { writer.widen(packet.widths); };
    const auto take = [&](const TimeOrder::Packet &packet, const Event &event) {
        gone = !writer.event(packet, event);
        return wants_more(packet, event, max_events) && !gone;
    };
    const auto go_on = [&] {
        // Nothing is kept back while we wait for more of a stream.
        if (reader_.would_wait() && !gone)
            gone = !writer.flush();
        show_progress();
        return !gone;
    };
    read_in_time_order(reader_, see, take, go_on);
    return !gone && writer.flush();
}

void ReportOutput::export_events(Exporter &exporter, std::optional<std::uint64_t> max_events) {
    ExportFeed feed(exporter);
    const auto see = [&feed](const DecodedPacket &packet) { feed.packet(packet); };
    const auto take = [&](const TimeOrder::Packet &packet, const Event &event) {
        feed.event(packet, event);
        return wants_more(packet, event, max_events);
    };
    const auto go_on = [this] {
        show_progress();
        return true;
    };
    read_in_time_order(reader_, see, take, go_on);
    // The rest of the file is not mentioned.
    if (satisfied_)
        return feed.finish({});
    const EventBatch &running = reader_.running().batch;
    shown_ += running.events.size();
    feed.finish(reader_.loss(), running);
}

bool ReportOutput::show_stream(Renderer &renderer, std::optional<std::uint64_t> max_events) {
    renderer.begin(output_->buffer(), reader_.info().begin_monotonic);
    bool gone = false;
    const auto see = [&renderer](const DecodedPacket &packet) { renderer.widen(packet.widths); };
    const auto take = [&](const TimeOrder::Packet &packet, const Event &event) {
        renderer.event(output_->buffer(), packet->batch.view(event));
        gone = output_->full() && !output_->flush();
        return wants_more(packet, event, max_events) && !gone;
    };
    const auto go_on = [&] {
        if (reader_.would_wait() && !gone)
            gone = !output_->flush();
        show_progress();
        return !gone;
    };
    read_in_time_order(reader_, see, take, go_on);
    if (gone)
        return false;
    if (!satisfied_ && !reader_.running().batch.events.empty())
        renderer.still_running(output_->buffer(), reader_.running(), true);
    renderer.end(output_->buffer());
    return output_->flush();
}

/// One event more was shown; whether others are wanted.
bool ReportOutput::wants_more(const TimeOrder::Packet &packet, const Event &event, std::optional<std::uint64_t> max_events) {
    if (event.has_unread) [[unlikely]]
        unread_.add(packet->batch.view(event));
    ++shown_;
    satisfied_ = max_events && shown_ >= *max_events;
    return !satisfied_;
}

/// For how long was recorded of what the filter lets through. A recording of what `add` traces may
/// begin with older calls.
void ReportOutput::take_duration(TraceStats &stats, const EventFilter &filter) const {
    std::uint64_t begin = stats.first;
    std::uint64_t end = stats.last;
    if (const auto &span = reader_.span()) {
        begin = std::max(stats.last ? std::min(begin, span->begin) : span->begin, filter.from);
        end = std::min(std::max(end, span->end), filter.to);
        stats.duration_known = true;
    }
    stats.duration = end > begin ? end - begin : 0;
}

namespace {

/// How long the calls of each function took.
class Timings {
public:
    void add(const EventView &view) {
        const Event &event = *view.event;
        One &one = known_[event.probe];
        one.durations.add(event.duration);
        one.self += self_.add(event);
        if (has_result(*event.probe) && error_number(*event.probe, view.values.back()) != 0)
            ++one.errors;
    }

    std::optional<TraceStats::Timing> of(const Probe *probe) const {
        const auto known = known_.find(probe);
        if (known == known_.end())
            return std::nullopt;
        const DurationHistogram &durations = known->second.durations;
        return TraceStats::Timing{known->second.errors,       durations.sum(),
                                  known->second.self,         durations.mean(),
                                  durations.percentile(0.5),  durations.percentile(0.99),
                                  durations.max()};
    }

private:
    struct One {
        DurationHistogram durations;
        WideNumber self = 0;
        std::uint64_t errors = 0;
    };

    std::unordered_map<const Probe *, One> known_;
    SelfTimes self_;
};

} // namespace

bool ReportOutput::show_stats(bool json, const EventFilter &filter) {
    std::unordered_map<const Probe *, std::uint64_t> calls;
    Timings timings;
    TraceStats stats;
    stats.first = std::numeric_limits<std::uint64_t>::max();
    const auto see = [&](const DecodedPacket &packet) {
        for (const auto &[probe, count] : packet.calls) {
            calls[probe] += count;
            shown_ += count;
        }
        if (!packet.calls.empty()) {
            stats.first = std::min(stats.first, packet.first);
            stats.last = std::max(stats.last, packet.last);
        }
    };
    const auto take = [&timings](const TimeOrder::Packet &packet, const Event &event) {
        timings.add(packet->batch.view(event));
        return true;
    };
    const auto go_on = [this] {
        show_progress();
        return true;
    };
    read_in_time_order(reader_, see, take, go_on);
    if (stats.first > stats.last)
        stats.first = stats.last;
    take_duration(stats, filter);
    for (const auto &[probe, count] : calls)
        stats.functions.push_back(
            {probe->function + (probe->forced ? "~" : ""), count, timings.of(probe)});
    std::sort(stats.functions.begin(), stats.functions.end(), [](const auto &a, const auto &b) {
        return std::pair(b.calls, std::string_view(a.name)) <
               std::pair(a.calls, std::string_view(b.name));
    });
    for (const auto &[cpu, one] : reader_.cpus())
        stats.cpus.push_back({cpu, one.events, one.lost, one.packets});
    for (const auto &[cpu, lost] : reader_.loss()) {
        const auto known = std::find_if(stats.cpus.begin(), stats.cpus.end(),
                                        [cpu = cpu](const auto &one) { return one.cpu == cpu; });
        if (known != stats.cpus.end())
            known->lost = lost;
        else
            stats.cpus.push_back({cpu, 0, lost, 0});
    }
    std::sort(stats.cpus.begin(), stats.cpus.end(),
              [](const auto &a, const auto &b) { return a.cpu < b.cpu; });
    auto append = json ? append_trace_stats_json : append_trace_stats_text;
    append(output_->buffer(), stats);
    return output_->flush();
}

Aggregation ReportOutput::add_up(TraceAggregation &aggregation) {
    return aggregation.run([&] {
        shown_ = aggregation.calls();
        show_progress();
    });
}

void ReportOutput::add_up(TraceAggregation &aggregation, TraceIntervals &intervals) {
    aggregation.run(intervals, [&] {
        shown_ = aggregation.calls();
        show_progress();
    });
    shown_ = aggregation.calls();
    satisfied_ = intervals.satisfied();
}

void ReportOutput::pair(TracePairing &pairing, TraceIntervals *intervals) {
    pairing.run(intervals, [&] {
        shown_ = pairing.pairing().calls();
        show_progress();
    });
    shown_ = pairing.pairing().calls();
    satisfied_ = intervals && intervals->satisfied();
}

void ReportOutput::look_at(TraceWaits &waits) {
    waits.run([&] {
        shown_ = waits.events();
        show_progress();
    });
    shown_ = waits.events();
}

std::vector<std::string> ReportOutput::unknown_functions(const EventFilter &filter) const {
    std::vector<std::string> sentences;
    if (satisfied_) // there may be more of them
        return sentences;
    std::vector<std::string_view> names;
    std::vector<std::pair<std::string_view, std::string>> functions; // with their modules
    reader_.schema().for_each([&](const Probe &probe) {
        const auto symbol = reader_.symbols().find(code_place(probe));
        names.push_back(probe.function);
        functions.emplace_back(probe.function, symbol ? symbol->module : "");
    });
    std::sort(names.begin(), names.end());
    for (const Spec &wanted : filter.functions) {
        if (std::any_of(functions.begin(), functions.end(),
                        [&](const auto &function) { return wanted.matches(function.first, function.second); }))
            continue;
        const std::string_view near = near_match(wanted.title(), names);
        sentences.push_back(
            fmt::format("{}: the trace has no such {}{}", wanted.title(),
                        wanted.kind->noun,
                        near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
    return sentences;
}

bool ReportOutput::show_summary_json() {
    const auto all = total();
    append_summary_json(output_->buffer(), shown_, all ? &*all : nullptr, nullptr, nullptr, unread_);
    return output_->flush();
}

std::optional<argtrace_counts> ReportOutput::total() const {
    if (reader_.counts().empty())
        return std::nullopt;
    return total_of(reader_.counts());
}

std::optional<argtrace_counts> ReportOutput::total(const RecordedChoice &choice) const {
    if (reader_.counts().empty())
        return std::nullopt;
    std::vector<argtrace_counts> meant;
    for (const argtrace_counts &counts : reader_.counts())
        if (choice.means(reader_.schema().find(counts.id)))
            meant.push_back(counts);
    return total_of(meant);
}

std::uint64_t ReportOutput::unreadable() const {
    return reader_.unreadable().records + reader_.unreadable().packets;
}

void ReportOutput::print_summary() {
    progress_.clear();
    print_counts();
    print_running();
    print_damage();
}

void ReportOutput::tell_pids(const EventFilter &filter) const {
    if (shown_ > 0 || satisfied_ || (filter.pids.empty() && filter.tids.empty()))
        return;
    const bool processes = !filter.pids.empty();
    const std::vector<std::uint32_t> &numbers = processes ? filter.pids : filter.tids;
    message("nothing is shown of {}{} {}: recordings have the numbers of the initial PID namespace, not those that a container has of its own",
            processes ? "process" : "thread", numbers.size() == 1 ? "" : processes ? "es" : "s", fmt::join(numbers, ", "));
}

void ReportOutput::print_damage() {
    progress_.clear();
    const Unreadable bad = reader_.unreadable();
    if (unreadable() > 0)
        message("{} records and {} packets could not be read: {}", bad.records, bad.packets,
                describe(bad.why));
    print_faults();
}

void ReportOutput::print_counts() const {
    if (const auto all = total()) {
        message("{} event{} {}; {}", shown_, shown_ == 1 ? "" : "s", done_, calls_summary(*all, std::nullopt, {}, unread_));
        return;
    }
    std::uint64_t lost = 0;
    std::uint64_t missing = 0;
    for (const auto &[cpu, one] : reader_.cpus()) {
        lost += one.lost;
        missing += one.missing;
    }
    const std::string rest =
        satisfied_
            ? fmt::format("the rest of {} was not looked at", name_)
            : fmt::format("{}{}",
                          lost > 0 ? fmt::format("at least {} calls lost to full rings", lost)
                                   : "how many calls were lost is not known",
                          missing ? fmt::format(", {} packets missing", missing) : "");
    message("{} event{} {}; {}", shown_, shown_ == 1 ? "" : "s", done_, rest);
}

void ReportOutput::print_running() const {
    if (satisfied_)
        return;
    std::map<const Probe *, InFlightFunction> functions;
    for (const Event &event : reader_.running().batch.events) {
        InFlightFunction &function = functions[event.probe];
        function.name = event.probe->function;
        ++function.calls;
        std::string task = fmt::format("{} {}", visible_text(event.comm_view()), event.tid);
        if (std::find(function.tasks.begin(), function.tasks.end(), task) == function.tasks.end())
            function.tasks.push_back(std::move(task));
    }
    std::vector<InFlightFunction> all;
    for (auto &[probe, function] : functions)
        all.push_back(std::move(function));
    if (!all.empty())
        message("calls that had not returned when recording ended: {}", describe_in_flight(all));
}

void ReportOutput::print_faults() const {
    for (const FileFault &fault : reader_.faults()) {
        if (fault.status == FileStatus::cut_short)
            message("{}: it is cut short after {} bytes: everything up to the last "
                    "whole packet was read, the totals at its end are missing",
                    name_, fault.offset);
        else
            message("{}: {}", name_, at_byte(fault));
    }
    if (reader_.fault_count() > reader_.faults().size())
        message("{}: and {} more faults", name_, reader_.fault_count() - reader_.faults().size());
}

void ReportOutput::show_progress() {
    const std::uint64_t now = monotonic_now();
    if (!progress_.due(now))
        return;
    const auto mebibytes = [](std::uint64_t bytes) { return bytes >> 20; };
    const std::uint64_t read = reader_.offset();
    const std::string of =
        size_ ? fmt::format(" of {} MiB ({}%)", mebibytes(*size_),
                            100 * std::min(read, *size_) / std::max<std::uint64_t>(*size_, 1))
              : " MiB";
    progress_.tell(now, fmt::format("{}{} read, {} events", mebibytes(read), of, shown_));
}

} // namespace argtrace
