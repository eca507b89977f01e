// SPDX-License-Identifier: GPL-2.0-only
#include "render/trace_info.h"

#include <ctime>
#include <iterator>

#include <fmt/format.h>

#include "model/process_filter.h"
#include "render/text.h"
#include "uapi/argtrace.h"
#include "util/nanoseconds.h"
#include "util/units.h"

namespace argtrace {

namespace {

/// In UTC: files travel.
std::string date(std::uint64_t realtime) {
    const auto seconds = static_cast<std::time_t>(realtime / nanoseconds_per_second);
    std::tm parts{};
    char text[32] = "";
    if (::gmtime_r(&seconds, &parts))
        std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
    return fmt::format("{}.{:09} UTC", text, realtime % nanoseconds_per_second);
}

std::string format_words(std::uint32_t format) {
    std::string words = format & ARGTRACE_FORMAT_NAMED ? "named" : "compact";
    if (format & ARGTRACE_FORMAT_NO_CALLER)
        words += ", without callers";
    return words;
}

} // namespace

void append_trace_info_text(std::string &out, const TraceInfo &info) {
    const auto line = [&out](std::string_view what, const std::string &value) {
        if (value.empty())
            return;
        fmt::format_to(std::back_inserter(out), "{:<24}", what);
        Line shown;
        append_visible(shown, value);
        out += shown.view();
        out += '\n';
    };
    line("recorded by", fmt::format("argtrace {}, records {}", info.argtrace, info.record_version));
    line("host", info.host);
    line("kernel", fmt::format("{} {}", info.kernel, info.machine));
    line("CPUs", fmt::format("{}", info.cpus));
    line("begin", date(info.begin_realtime));
    line("begin, in event time",
         fmt::format("{}.{:09}", info.begin_monotonic / nanoseconds_per_second,
                     info.begin_monotonic % nanoseconds_per_second));
    line("mode", info.mode);
    line("records", format_words(info.format));
    line("buffer per CPU",
         fmt::format("{} packets of {}", info.packets_per_cpu, format_size(info.packet_size)));
    if (!info.processes.empty())
        line("calls of", describe(ProcessFilter{info.processes, info.children}));
    line("command", fmt::format("{}", fmt::join(info.command, " ")));
}

void append_trace_info_json(std::string &out, const TraceInfo &info) {
    out += to_json(info, -1);
    out += '\n';
}

} // namespace argtrace
