// SPDX-License-Identifier: GPL-2.0-only
#include "render/trace_stats.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "render/json.h"
#include "util/nanoseconds.h"
#include "util/units.h"

namespace argtrace {

namespace {

/// Calls in a second; 0 where there is no time to speak of.
double rate(std::uint64_t calls, const TraceStats &stats) {
    if (stats.duration == 0)
        return 0;
    return static_cast<double>(calls) * nanoseconds_per_second /
           static_cast<double>(stats.duration);
}

std::uint64_t total_calls(const TraceStats &stats) {
    std::uint64_t sum = 0;
    for (const TraceStats::Function &function : stats.functions)
        sum += function.calls;
    return sum;
}

/// Where any function has one, those that took most time first.
void append_timings(std::string &out, const TraceStats &stats, std::size_t width) {
    std::vector<const TraceStats::Function *> timed;
    for (const TraceStats::Function &function : stats.functions)
        if (function.timing)
            timed.push_back(&function);
    if (timed.empty())
        return;
    std::stable_sort(timed.begin(), timed.end(),
                     [](const auto *a, const auto *b) { return a->timing->total > b->timing->total; });
    auto to = std::back_inserter(out);
    fmt::format_to(to, "\n{:{}} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "FUNC", width, "ERRORS",
                   "TOTAL", "SELF", "MEAN", "P50", "P99", "MAX");
    for (const TraceStats::Function *function : timed) {
        const TraceStats::Timing &timing = *function->timing;
        fmt::format_to(to, "{:{}} {:>8}", function->name, width, timing.errors);
        for (const WideNumber time : {timing.total, timing.self, WideNumber{timing.mean}, WideNumber{timing.p50},
                                      WideNumber{timing.p99}, WideNumber{timing.max}})
            fmt::format_to(to, " {:>8}", format_duration(time));
        out += '\n';
    }
}

} // namespace

void append_trace_stats_text(std::string &out, const TraceStats &stats) {
    auto to = std::back_inserter(out);
    std::size_t width = sizeof("total") - 1;
    for (const TraceStats::Function &function : stats.functions)
        width = std::max(width, function.name.size());
    const auto line = [&](std::string_view name, std::uint64_t calls) {
        fmt::format_to(to, "{:{}} {:>14} {:>14.1f}\n", name, width, calls, rate(calls, stats));
    };
    fmt::format_to(to, "{:{}} {:>14} {:>14}\n", "FUNC", width, "CALLS", "PER SECOND");
    for (const TraceStats::Function &function : stats.functions)
        line(function.name, function.calls);
    line("total", total_calls(stats));
    const double seconds = static_cast<double>(stats.duration) / nanoseconds_per_second;
    if (stats.duration_known)
        fmt::format_to(to, "recorded for {:.6f} s\n", seconds);
    else
        fmt::format_to(to,
                       "the file does not say for how long was recorded: rates are of the "
                       "{:.6f} s from the first event to the last\n",
                       seconds);

    append_timings(out, stats, width);
    fmt::format_to(to, "\n{:<5} {:>14} {:>14} {:>10}\n", "CPU", "EVENTS", "LOST", "PACKETS");
    for (const TraceStats::Cpu &cpu : stats.cpus)
        fmt::format_to(to, "{:<5} {:>14} {:>14} {:>10}\n", cpu.cpu, cpu.events, cpu.lost,
                       cpu.packets);
}

void append_trace_stats_json(std::string &out, const TraceStats &stats) {
    auto to = std::back_inserter(out);
    for (const TraceStats::Function &function : stats.functions) {
        out += "{\"func\":";
        append_json_string(out, function.name);
        fmt::format_to(to, ",\"calls\":{},\"per_second\":{:.1f}", function.calls,
                       rate(function.calls, stats));
        if (const auto &timing = function.timing)
            fmt::format_to(to,
                           ",\"errors\":{},\"total\":{},\"self\":{},\"mean\":{},\"p50\":{},"
                           "\"p99\":{},\"max\":{}",
                           timing->errors, timing->total, timing->self, timing->mean, timing->p50,
                           timing->p99, timing->max);
        out += "}\n";
    }
    for (const TraceStats::Cpu &cpu : stats.cpus)
        fmt::format_to(to, "{{\"cpu\":{},\"events\":{},\"lost\":{},\"packets\":{}}}\n", cpu.cpu,
                       cpu.events, cpu.lost, cpu.packets);
    fmt::format_to(to,
                   "{{\"calls\":{},\"first\":{},\"last\":{},\"duration\":{},"
                   "\"duration_known\":{}}}\n",
                   total_calls(stats), stats.first, stats.last, stats.duration,
                   stats.duration_known);
}

} // namespace argtrace
