// SPDX-License-Identifier: GPL-2.0-only
#include "cli/report_output.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "model/counts.h"
#include "render/status.h"
#include "render/trace_stats.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/message.h"
#include "util/near_match.h"
#include "util/units.h"

namespace argtrace {

namespace {

/// Splits at the commas.
std::vector<std::string_view> parts(std::string_view text) {
    std::vector<std::string_view> all;
    for (;;) {
        const std::size_t end = std::min(text.find(','), text.size());
        all.push_back(text.substr(0, end));
        if (end == text.size())
            return all;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::uint32_t> number(std::string_view text) {
    std::uint32_t value = 0;
    const char *end = text.data() + text.size();
    const auto [rest, problem] = std::from_chars(text.data(), end, value);
    if (problem != std::errc{} || rest != end)
        return std::nullopt;
    return value;
}

std::string at_byte(const FileFault &fault) {
    return fmt::format("at byte {}: {}", fault.offset, describe(fault.status));
}

} // namespace

void parse_time_range(const std::string &text, EventFilter &filter) {
    const std::size_t comma = text.find(',');
    const auto from = text.substr(0, comma);
    const auto to = comma == text.npos ? "" : text.substr(comma + 1);
    if (comma == text.npos || (from.empty() && to.empty()) || to.find(',') != to.npos)
        throw Error(fmt::format("--time takes two moments such as 12.5,13 (one may be left out), "
                                "or mono, delta or wall, not '{}'",
                                text));
    if (!from.empty())
        filter.from = parse_moment("--time", from);
    if (!to.empty())
        filter.to = parse_moment("--time", to);
    if (filter.from > filter.to)
        throw Error(fmt::format("--time {}: it ends before it begins", text));
}

std::vector<std::uint32_t> parse_number_list(const std::string &what, const std::string &text) {
    std::vector<std::uint32_t> list;
    for (const std::string_view part : parts(text)) {
        const auto value = number(part);
        if (!value)
            throw Error(fmt::format("{} takes numbers such as 1,23, not '{}'", what, text));
        list.push_back(*value);
    }
    return list;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> parse_cpu_list(const std::string &text) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
    for (const std::string_view part : parts(text)) {
        const std::size_t dash = std::min(part.find('-'), part.size());
        const auto from = number(part.substr(0, dash));
        const auto to = dash == part.size() ? from : number(part.substr(dash + 1));
        if (!from || !to || *from > *to)
            throw Error(fmt::format("--cpu takes CPUs such as 0,4-7, not '{}'", text));
        list.emplace_back(*from, *to);
    }
    return list;
}

ReportOutput::ReportOutput(TraceReader &reader, std::string name, std::optional<std::uint64_t> size,
                           Output &output)
    : reader_(reader), name_(std::move(name)), output_(output), size_(size),
      progress_(STDERR_FILENO, monotonic_now()) {
    if (::isatty(output.fd()))
        progress_.disable(); // the events themselves show how it goes
}

bool ReportOutput::show_events(WorkerPool &workers, const BlockWriter::MakeRenderer &make,
                               std::optional<std::uint64_t> max_events) {
    BlockWriter writer(workers, reader_.symbols(), make, output_);
    TimeOrder order;
    writer.begin(reader_.info().begin_monotonic);
    bool gone = false;
    const std::uint64_t wanted = max_events.value_or(std::numeric_limits<std::uint64_t>::max());
    const auto take = [&](const TimeOrder::Packet &packet, const Event &event) {
        gone = !writer.event(packet, event);
        satisfied_ = ++shown_ >= wanted;
        return !gone && !satisfied_;
    };
    while (!gone && !satisfied_) {
        const auto item = reader_.next();
        if (!item) {
            order.finish(take);
            break;
        }
        if (item->packet) {
            writer.widen(item->packet->widths);
            order.add(item->packet);
        } else {
            order.advance(item->mark, take);
        }
        // Nothing is kept back while we wait for more of a stream.
        if (reader_.would_wait() && !gone)
            gone = !writer.flush();
        show_progress();
    }
    return !gone && writer.flush();
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

bool ReportOutput::show_stats(bool json, const EventFilter &filter) {
    std::unordered_map<const Probe *, std::uint64_t> calls;
    TraceStats stats;
    stats.first = std::numeric_limits<std::uint64_t>::max();
    while (const auto item = reader_.next()) {
        if (!item->packet)
            continue;
        for (const auto &[probe, count] : item->packet->calls) {
            calls[probe] += count;
            shown_ += count;
        }
        if (!item->packet->calls.empty()) {
            stats.first = std::min(stats.first, item->packet->first);
            stats.last = std::max(stats.last, item->packet->last);
        }
        show_progress();
    }
    if (stats.first > stats.last)
        stats.first = stats.last;
    take_duration(stats, filter);
    for (const auto &[probe, count] : calls)
        stats.functions.push_back({probe->function + (probe->forced ? "~" : ""), count});
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
    append(output_.buffer(), stats);
    return output_.flush();
}

std::vector<std::string> ReportOutput::unknown_functions(const EventFilter &filter) const {
    std::vector<std::string> sentences;
    if (satisfied_) // there may be more of them
        return sentences;
    std::vector<std::string_view> names;
    reader_.schema().for_each([&](const Probe &probe) { names.push_back(probe.function); });
    std::sort(names.begin(), names.end());
    for (const Pattern &wanted : filter.functions) {
        if (std::any_of(names.begin(), names.end(),
                        [&](std::string_view name) { return wanted.matches(name); }))
            continue;
        const std::string_view near = near_match(wanted.text(), names);
        sentences.push_back(
            fmt::format("{}: the trace has no such function{}", wanted.text(),
                        near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
    return sentences;
}

bool ReportOutput::show_summary_json() {
    const auto all = total();
    append_summary_json(output_.buffer(), shown_, all ? &*all : nullptr);
    return output_.flush();
}

/// As far as the file has them, and has been read up to there.
std::optional<argtrace_counts> ReportOutput::total() const {
    if (reader_.counts().empty())
        return std::nullopt;
    argtrace_counts total{};
    for (const argtrace_counts &counts : reader_.counts())
        add_counts(total, counts);
    return total;
}

std::uint64_t ReportOutput::unreadable() const {
    return reader_.unreadable().records + reader_.unreadable().packets;
}

void ReportOutput::print_summary() {
    progress_.clear();
    print_counts();
    const Unreadable bad = reader_.unreadable();
    if (unreadable() > 0)
        message("{} records and {} packets could not be read: {}", bad.records, bad.packets,
                describe(bad.why));
    print_faults();
}

void ReportOutput::print_counts() const {
    if (const auto all = total()) {
        write_message(trace_summary(shown_, *all));
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
    message("{} event{} shown; {}", shown_, shown_ == 1 ? "" : "s", rest);
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
